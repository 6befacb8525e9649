// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations or the queue that keep one operation from starting or finishing.
///
/// The key `b` goes to the first of these operations, and the pane beside the list names them. The detail
/// screen shows the same facts.
struct Obstacle: Sendable, Equatable {
  /// The reason why the operation cannot continue.
  enum Kind: Sendable, Equatable {
    /// Dependencies of the operation have not finished.
    case dependencies
    /// The operation's own code waits.
    case ownCode
    /// All slots of the operation's queue are in use.
    case slots
    /// Other operations hold an exclusion that the operation needs.
    case exclusion
    /// The operation was added to its queue after a barrier.
    case barrier
    /// The queue of the operation is suspended.
    case suspension
  }

  let kind: Kind
  /// The operations, the most important first; empty if the obstacle is a queue.
  var operations: [OperationReport.ID] = []
  /// The queue that is suspended or whose operations the operation waits for; `nil` if the obstacle consists of
  /// operations.
  var queue: QueueReport.ID?

  /// The heading of the list of the operations or of the queue.
  var heading: String {
    switch kind {
    case .dependencies: "WAITS FOR"
    case .ownCode: "ITS CODE WAITS FOR"
    case .slots: "NO FREE SLOT, HELD BY"
    case .exclusion: "EXCLUSION HELD BY"
    case .barrier: "BEHIND THE BARRIER"
    case .suspension: "SUSPENDED QUEUE"
    }
  }
}

extension MonitoredState {
  /// Returns what keeps an operation from starting or finishing; `nil` if nothing is known to do so.
  func obstacle(to report: OperationReport) -> Obstacle? {
    guard !report.state.isOver, !hasEnded(report.id) else { return nil }
    if let waiting = ownCodeWait(of: report) ?? nextInCycle(after: report) { return waiting }
    switch report.state {
    case .executing, .finished, .failed, .cancelled: return nil
    case .cancelling where report.started != nil: return nil
    case .held where isHeldItself(report): return nil
    case .held: return Obstacle(kind: .suspension, queue: report.queue)
    case .cancelling, .ready: break
    case .waiting:
      if report.unmetDependencyCount > 0 { return unmetDependencies(of: report) }
      return operations(of: .excluded, to: report).map {
        Obstacle(kind: .exclusion, operations: $0)
      }
    }
    if queue(report.queue)?.isSuspended == true {
      return Obstacle(kind: .suspension, queue: report.queue)
    }
    if let barrier = operations(of: .barrierAhead, to: report) {
      return Obstacle(kind: .barrier, operations: barrier)
    }
    let holders = operations(of: .noFreeSlot, to: report) ?? knownSlotHolders(for: report)
    return holders.isEmpty ? nil : Obstacle(kind: .slots, operations: holders)
  }

  /// Returns the operations that cause a reason of the operation's detail; `nil` if the detail is not known or
  /// does not contain the reason with its operations.
  private func operations(
    of kind: OperationDetail.Reason.Kind, to report: OperationReport
  ) -> [OperationReport.ID]? {
    guard let detail, detail.id == report.id else { return nil }
    let operations = detail.reasons.first { $0.kind == kind }?.operations ?? []
    return operations.isEmpty ? nil : operations
  }

  /// Returns whether the process has reported that an operation is not in a queue, although `waiting` depends
  /// on it.
  func isNeverAdded(_ id: OperationReport.ID, neededBy waiting: OperationReport.ID) -> Bool {
    let isInDetail =
      detail?.id == waiting
      && detail?.reasons.contains {
        $0.kind == .dependenciesNeverAdded && $0.operations.contains(id)
      } == true
    return isInDetail
      || warnings.contains { $0.kind == .neverEnqueuedDependency && $0.awaited.contains(id) }
  }

  /// Returns the operations or the queue that the code of an executing operation waits for.
  private func ownCodeWait(of report: OperationReport) -> Obstacle? {
    if let detail, detail.id == report.id {
      if !detail.awaitedOperations.isEmpty {
        return Obstacle(kind: .ownCode, operations: detail.awaitedOperations)
      }
      if let queue = detail.awaitedQueues.first { return Obstacle(kind: .ownCode, queue: queue) }
    }
    for warning in warnings where warning.kind == .slotDeadlock {
      guard let index = warning.operations.firstIndex(of: report.id) else { continue }
      // The warning first contains one awaited operation for each holder of a slot, in the same order.
      // A process with an earlier version of the library may send fewer operations.
      let isInOrder = warning.awaited.count >= warning.operations.count
      let own = isInOrder ? [warning.awaited[index]] : warning.distinctAwaited
      return own.isEmpty ? nil : Obstacle(kind: .ownCode, operations: own)
    }
    return nil
  }

  /// Returns the operation that an operation of a cycle waits for; `nil` if the operation is in no cycle.
  private func nextInCycle(after report: OperationReport) -> Obstacle? {
    for warning in warnings where warning.kind == .cycle {
      guard let index = warning.operations.firstIndex(of: report.id) else { continue }
      let next = warning.operations[(index + 1) % warning.operations.count]
      let kind: Obstacle.Kind = report.dependencies.contains(next) ? .dependencies : .ownCode
      return Obstacle(kind: kind, operations: [next])
    }
    return nil
  }

  private func unmetDependencies(of report: OperationReport) -> Obstacle? {
    let endless = report.dependencies.filter { id in
      deadlocked.ids.contains(id) && operations.state(of: id)?.isOver != true
    }
    let detailed = operations(of: .unmetDependencies, to: report) ?? []
    let found = endless + detailed.filter { !endless.contains($0) }
    if !found.isEmpty { return Obstacle(kind: .dependencies, operations: found) }
    return operations.blocker(of: report).map { Obstacle(kind: .dependencies, operations: [$0]) }
  }

  /// Returns the known executing operations of the operation's queue, the longest run first; empty if the queue
  /// has a free slot.
  private func knownSlotHolders(for report: OperationReport) -> [OperationReport.ID] {
    guard let queue = queue(report.queue), let width = queue.width, queue.counts.executing >= width
    else { return [] }
    return operations.all.filter {
      $0.queue == queue.id && $0.started != nil && !$0.state.isOver
    }.map { SortKey($0, by: .time) }.sorted().map(\.id)
  }
}

extension Dashboard {
  // MARK: Blockers

  /// Goes to the operation or the queue that keeps the selected operation from starting or finishing.
  ///
  /// One call makes one step. Repeated calls end at the operation that causes the wait, because nothing keeps
  /// that operation from finishing. In a deadlock, repeated calls return to the same operation.
  mutating func goToBlocker() -> [Effect] {
    guard let id = selectedOperation, let report = shown.operations[id] else { return [.bell] }
    if awaitDetail(of: id) { return [] }
    guard let obstacle = shown.obstacle(to: report) else {
      show(whyNoBlocker(report))
      return [.bell]
    }
    if let queue = obstacle.queue { return goToQueue(queue, holdingUp: report) }
    guard let blocker = obstacle.operations.first(where: { shown.operations.contains($0) }) else {
      for awaited in obstacle.operations.prefix(1) {
        let clause =
          shown.isNeverAdded(awaited, neededBy: id)
          ? "which is not in a queue" : "whose details have not arrived yet"
        show("\(id) waits for \(awaited), \(clause)", isWarning: true)
      }
      return [.bell]
    }
    showOperation(blocker)
    return []
  }

  private mutating func goToQueue(
    _ queue: QueueReport.ID, holdingUp report: OperationReport
  ) -> [Effect] {
    guard let known = shown.queue(queue) else {
      show(
        report.state == .held
          ? whyNoBlocker(report)
          : "the code of \(report.id) waits for a queue whose details have not arrived yet")
      return [.bell]
    }
    let name = known.label.clipped(to: 40)
    detail = nil
    screen.view = .queues
    layOut()
    queues.select(queue, in: shown.queues, height: pageHeight)
    show(
      known.isSuspended
        ? "\(report.id) waits for queue \(name), which is suspended"
        : "the code of \(report.id) waits for all operations of queue \(name)")
    return []
  }

  private func cancellation(of report: OperationReport) -> String {
    shown.cancellationWords(about: report, Glyphs(isUnicode: true)).map { " \($0)" } ?? ""
  }

  /// Returns a sentence that says why no operation holds up this operation.
  private func whyNoBlocker(_ report: OperationReport) -> String {
    let id = report.id
    if shown.hasEnded(id) { return "the process of \(id) has ended" }
    switch report.state {
    case .finished: return "\(id) has finished; nothing holds it up"
    case .failed: return "\(id) has failed; nothing holds it up"
    case .cancelled:
      return "\(id) was cancelled\(cancellation(of: report)); nothing holds it up"
    case .executing: return "\(id) executes; nothing is known to hold it up"
    case .cancelling:
      return "\(id) was cancelled\(cancellation(of: report)); nothing is known to hold it up"
    case .ready: return "\(id) is ready; nothing is known to hold it up"
    case .held: return "\(id) is held\(shown.isHeldItself(report) ? "" : " in a suspended queue")"
    case .waiting:
      if report.unmetDependencyCount > 0 { return "the unmet dependencies of \(id) are not known" }
      return report.isExcluded
        ? "\(id) is waiting for an exclusion that another operation holds"
        : "\(id) waits because its own isReady is false"
    }
  }
}
