// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Looks now and then whether operations wait for each other so that none will go on.
///
/// The search looks at every operation that waits, so it is made a second after a change at the
/// earliest, so rarely that it takes a fiftieth of the time, and not at all among very many.
struct DeadlockWatch {
  /// Among more unfinished operations than this it is not searched: it would hold up commands.
  static let operationLimit = 50_000
  private static let interval = Duration.seconds(1)
  private static let share = 50

  /// What was found, and how long it has been known.
  private(set) var warnings: [MonitorWarning] = []
  /// What was awaited at the last search: an operation that is in no queue may be on its way there.
  private var candidates: Set<[OperationReport.ID]> = []
  private var isDirty = false
  private var due = MonitorTime(nanoseconds: .min / 2)

  /// Something has changed.
  mutating func noteChange(at now: MonitorTime) {
    if !isDirty { due = max(due, now + Self.interval) }
    isDirty = true
  }

  /// When to search; `nil` while nothing has changed.
  var nextSearch: MonitorTime? { isDirty ? due : nil }

  /// Takes over what a search has found.
  ///
  /// - Parameters:
  ///   - found: What it found, without what depends on time.
  ///   - cost: How long it took.
  ///   - now: When it ended.
  /// - Returns: Whether there is something new to tell.
  mutating func take(_ found: [MonitorWarning], cost: Duration, at now: MonitorTime) -> Bool {
    due = now + max(Self.interval, cost * Self.share)
    isDirty = false
    let old = warnings
    warnings = found.filter {
      $0.kind != .neverEnqueuedDependency || candidates.contains($0.awaited)
    }
    candidates = Set(found.lazy.filter { $0.kind == .neverEnqueuedDependency }.map(\.awaited))
    // Once more, to know whether it stays so.
    if warnings.count < found.count { isDirty = true }
    return warnings != old
  }
}

extension MonitorWarning {
  /// The same for viewers, without how many more wait.
  init(_ deadlock: Deadlock) {
    func ids(_ operations: [OperationReference]) -> [OperationReport.ID] {
      operations.map { OperationReport.ID($0.id.rawValue) }
    }
    switch deadlock {
    case .cycle(let members):
      self.init(kind: .cycle, operations: ids(members))
    case .slots(let holders):
      self.init(
        kind: .slotDeadlock, operations: ids(holders.map(\.operation)),
        awaited: ids(holders.compactMap(\.chain.last)),
        queue: (holders.first?.neededQueue.id).map { QueueReport.ID($0.rawValue) })
    case .neverAdded(let operation, let className, let waiting):
      self.init(
        kind: .neverEnqueuedDependency, operations: ids(waiting), awaited: ids([operation]),
        awaitedTitle: operation.name ?? className)
    }
  }
}
