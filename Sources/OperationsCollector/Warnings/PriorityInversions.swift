// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Detects priority inversions. In a priority inversion, an operation of high priority waits for a
/// ready operation of low priority, and less important operations start before that operation.
///
/// It is not an inversion if an operation of high priority also waits for each operation that
/// starts earlier. A higher priority of the awaited operation would then only delay another awaited
/// operation.
struct PriorityInversions {
  /// The time for which a ready operation may keep operations of high priority waiting before a
  /// warning.
  static let patience = Duration.seconds(1)
  /// The maximum number of ready operations of low priority that are examined.
  static let searchLimit = 300
  /// The maximum number of dependents of an operation that are searched for operations of high
  /// priority.
  static let dependentLimit = 1_000

  /// The ready operations of low priority that operations of high priority wait for.
  private(set) var candidates = LastingCondition(patience: PriorityInversions.patience)
  /// For each queue and priority, the number of ready operations that no operation of high priority
  /// waits for.
  private var bystanders: [QueueReport.ID: [OperationPriority: Int]] = [:]

  /// Returns whether the priority is high or very high. A waiting operation with such a priority is
  /// urgent.
  static func isHigh(_ priority: OperationPriority) -> Bool { priority >= .high }

  /// Returns whether the priority is below normal. A ready operation with such a priority should
  /// not keep urgent operations waiting.
  static func isLow(_ priority: OperationPriority) -> Bool { priority < .normal }

  /// Updates the search for priority inversions after an operation has changed.
  mutating func note(_ entry: OperationEntry, at now: MonitorTime) {
    let report = entry.report
    let isReady = report.state == .ready || report.state == .held
    let isAwaited = entry.urgentDependentCount > 0
    if isReady, isAwaited, Self.isLow(report.priority) {
      candidates.insert(report.id, at: now)
    } else {
      candidates.remove(report.id)
    }
    let priority = isReady && !isAwaited ? report.priority : nil
    guard priority != entry.bystanderPriority else { return }
    if let old = entry.bystanderPriority { bystanders[report.queue]?[old]? -= 1 }
    if let priority { bystanders[report.queue, default: [:]][priority, default: 0] += 1 }
    entry.bystanderPriority = priority
  }

  /// Removes the data of all queues except the given ones, because the other queues no longer exist.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    bystanders = bystanders.filter { ids.contains($0.key) }
  }

  /// Sets the current time, which determines how long operations have kept urgent operations
  /// waiting.
  mutating func advance(to now: MonitorTime) { candidates.advance(to: now) }

  /// Returns whether an operation is ready, and other operations of its queue start before it
  /// although no operation of high priority waits for them.
  func isOvertaken(_ report: OperationReport) -> Bool {
    guard report.state == .ready, let ready = bystanders[report.queue] else { return false }
    return ready.contains { $0.key > report.priority && $0.value > 0 }
  }
}
