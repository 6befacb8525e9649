// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Workloads

/// What this package's operations and Foundation's are both used for, in the same words.
///
/// The folder is compiled twice, once against each model: what is written once cannot differ.
public enum SharedTrials {
  /// All of them.
  public static var all: [Trial] { flatTrials + linkedTrials + controlTrials + figureTrials }
}
