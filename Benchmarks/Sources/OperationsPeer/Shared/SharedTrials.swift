// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Workloads

/// The workloads that this package's operations and Foundation's operations run with the same
/// source.
///
/// The folder is compiled twice, once with each library, so that the code cannot differ.
public enum SharedTrials {
  /// All trials of this enumeration. A trial is the implementation of one workload by one library.
  public static var all: [Trial] { flatTrials + linkedTrials + controlTrials + figureTrials }
}
