// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The quantity that a sample of a workload measures. The raw value is the name of the metric in
/// exported files.
public enum Measure: String, CaseIterable, Sendable {
  /// The wall clock time of the whole workload, divided by the number of operations.
  case nanosecondsPerOperation = "ns per operation"
  /// The time from before an operation is added until its block begins. A sample has one value for
  /// each operation.
  case nanosecondsToStart = "ns to start"
  /// The growth of the process's resident memory in bytes, divided by the number of operations.
  case bytesPerOperation = "bytes per operation"
  /// The wall clock time of the whole workload.
  case milliseconds = "ms"
}
