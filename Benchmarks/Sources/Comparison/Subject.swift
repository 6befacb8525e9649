// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Workloads

/// What was measured: one benchmark.
public struct Subject: Hashable, Sendable {
  /// What was done.
  public var workload: Workload
  /// With how many operations.
  public var size: Int
  /// By whom.
  public var contender: Contender

  /// Names a benchmark.
  public init(_ workload: Workload, _ size: Int, _ contender: Contender) {
    self.workload = workload
    self.size = size
    self.contender = contender
  }
}
