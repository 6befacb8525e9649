// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What one sample of a workload says. The raw value is the name of the metric in exported files.
public enum Measure: String, CaseIterable, Sendable {
  /// The wall clock time of the whole workload, divided by its size.
  case nanosecondsPerOperation = "ns per operation"
  /// From before an operation is added until its block has begun; one value for each operation.
  case nanosecondsToStart = "ns to start"
  /// How much the process's resident memory grew, divided by the size.
  case bytesPerOperation = "bytes per operation"
  /// The wall clock time of the whole workload.
  case milliseconds = "ms"
}
