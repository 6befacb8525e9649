// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore

/// Makes queues store records for a new collector while `body` runs.
///
/// - Parameters:
///   - queues: The queues that store records.
///   - wake: Called when there are changes since the last reading.
///   - body: Receives the collector, with which it reads the changes.
/// - Returns: The result of `body`.
func keepingRecords<Result>(
  of queues: [OperationQueue], wake: @escaping @Sendable () -> Void = {},
  body: (CollectorID) throws -> Result
) rethrows -> Result {
  let collector = CollectorID()
  MonitorLevel.raise()
  for queue in queues { queue.core.keepRecords(for: collector, replaces: true, wake: wake) }
  defer {
    for queue in queues { queue.core.dropRecords(of: collector) }
    MonitorLevel.lower()
  }
  return try body(collector)
}
