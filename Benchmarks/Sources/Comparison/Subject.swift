// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Workloads

/// One benchmark: a workload, a number of operations, and the library that runs the workload.
public struct Subject: Hashable, Sendable {
  /// The workload.
  public var workload: Workload
  /// The number of operations.
  public var size: Int
  /// The library that runs the workload.
  public var contender: Contender

  /// Creates the description of one benchmark.
  public init(_ workload: Workload, _ size: Int, _ contender: Contender) {
    self.workload = workload
    self.size = size
    self.contender = contender
  }
}
