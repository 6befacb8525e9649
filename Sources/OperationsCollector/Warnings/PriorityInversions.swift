// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Detects ready operations of low priority that keep operations of high priority waiting, and the
/// operations that start before them.
///
/// An operation of low priority alone is not an inversion: if only equally awaited operations start
/// before it, a higher priority would not make any operation start sooner.
struct PriorityInversions {
  /// How long a ready operation may keep operations of high priority waiting before a warning.
  static let patience = Duration.seconds(1)
  /// The maximum number of such operations that are examined.
  static let searchLimit = 300
  /// The maximum number of dependents that are searched for operations of high priority.
  static let dependentLimit = 1_000

  /// The ready operations of low priority that operations of high priority wait for.
  private(set) var candidates = LastingCondition(patience: PriorityInversions.patience)
  /// The number of ready operations of each priority in a queue that no operation of high priority
  /// waits for.
  private var bystanders: [QueueReport.ID: [OperationPriority: Int]] = [:]

  /// Returns whether operations of this priority are urgent while they wait.
  static func isHigh(_ priority: OperationPriority) -> Bool { priority >= .high }

  /// Returns whether operations of this priority should not keep urgent ones waiting.
  static func isLow(_ priority: OperationPriority) -> Bool { priority < .normal }

  /// Updates the data for an operation's current state.
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

  /// Removes queues that no longer exist.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    bystanders = bystanders.filter { ids.contains($0.key) }
  }

  /// Advances the current time.
  mutating func advance(to now: MonitorTime) { candidates.advance(to: now) }

  /// Returns whether other operations of a ready operation's queue start before it although they
  /// are less important.
  func isOvertaken(_ report: OperationReport) -> Bool {
    guard report.state == .ready, let ready = bystanders[report.queue] else { return false }
    return ready.contains { $0.key > report.priority && $0.value > 0 }
  }
}
