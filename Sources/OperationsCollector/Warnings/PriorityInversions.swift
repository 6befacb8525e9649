// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Which ready operations of low priority keep others of high priority waiting, and what goes ahead of
/// them meanwhile.
///
/// The low one alone is no inversion: where nothing goes ahead of it but what is awaited just as well,
/// a higher priority would make nobody start sooner.
struct PriorityInversions {
  /// So long a ready operation may keep others of high priority waiting before it is said.
  static let patience = Duration.seconds(1)
  /// Of those that do so many are looked at.
  static let searchLimit = 300
  /// Among so many of its dependents those of high priority are looked for.
  static let dependentLimit = 1_000

  /// The ready operations of low priority that others of high priority wait for.
  private(set) var candidates = LastingCondition(patience: PriorityInversions.patience)
  /// How many ready operations of each priority a queue has that nobody of high priority waits for.
  private var bystanders: [QueueReport.ID: [OperationPriority: Int]] = [:]

  /// Whether operations of this priority or a higher one are urgent while they wait.
  static func isHigh(_ priority: OperationPriority) -> Bool { priority >= .high }

  /// Whether operations of this priority or a lower one should keep nothing waiting that is urgent.
  static func isLow(_ priority: OperationPriority) -> Bool { priority < .normal }

  /// Takes in how an operation stands now.
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

  /// Forgets queues that no longer exist.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    bystanders = bystanders.filter { ids.contains($0.key) }
  }

  /// Time has passed.
  mutating func advance(to now: MonitorTime) { candidates.advance(to: now) }

  /// Whether the queue of a ready operation has others that go ahead of it and matter less.
  func isOvertaken(_ report: OperationReport) -> Bool {
    guard report.state == .ready, let ready = bystanders[report.queue] else { return false }
    return ready.contains { $0.key > report.priority && $0.value > 0 }
  }
}
