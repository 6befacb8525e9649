// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

extension World {
  /// Ends all operations after the last step of the program, and checks the final conditions: no
  /// operation is lost, runs twice or leaks.
  ///
  /// - Parameter limit: The time limit.
  /// - Returns: The violations.
  func windDown(within limit: Duration) -> [String] {
    breakDeadlocks()
    for operation in reports.letEverythingEnd() { operation.finish() }
    openQueues()
    guard poll(for: limit, until: endsComing) else {
      return ["something does not end: \(unfinished.joined(separator: ", "))"]
    }
    let findings = verdict
    breakRetainCycles()
    return findings + destruction(within: limit)
  }

  /// Releases the program's references, and waits until all objects are destroyed.
  ///
  /// - Returns: The objects that still exist after the time limit.
  private func destruction(within limit: Duration) -> [String] {
    for index in program.operations.indices { drop(index) }
    for index in program.queues.indices { dropQueue(index) }
    return poll(for: limit, until: { remains.isEmpty }) ? [] : remains
  }

  private func openQueues() {
    for index in program.queues.indices {
      guard let queue = livingQueue(index) else { continue }
      queue.isSuspended = false
      if queue.maxConcurrentOperationCount == 0 { queue.maxConcurrentOperationCount = 1 }
    }
  }

  // MARK: Ending

  /// Makes all operations end as far as possible. Returns whether all have ended.
  private func endsComing() -> Bool {
    for operation in reachable { end(operation) }
    return unfinished.isEmpty
  }

  /// Makes an operation end: sets its condition, and cancels and starts the operation if it is not
  /// in a queue. If it is in a queue, the queue starts it.
  private func end(_ operation: Operation) {
    guard let index = index(of: operation), !operation.isFinished else { return }
    if let conditional = operation as? SteeredConditional { conditional.setCondition(true) }
    let entry = reports.snapshot.entries[index]
    guard entry.queue == nil, !entry.isStartedByHand else { return }
    excuse([index])
    operation.cancel()
    operation.start()
  }

  /// Every operation that can be reached through the program's references, through queues, and
  /// through the dependencies of these operations.
  var reachable: [Operation] {
    var open = program.operations.indices.compactMap(operation)
    for index in program.queues.indices { open += livingQueue(index)?.operations ?? [] }
    var reached: Set<Operation> = []
    while let next = open.popLast() {
      if reached.insert(next).inserted { open += next.dependencies }
    }
    return Array(reached)
  }

  private var unfinished: [String] {
    var unfinished: [String] = []
    for index in program.queues.indices {
      guard let queue = livingQueue(index) else { continue }
      let content = queue.schedulerContent
      if !content.isEmpty {
        unfinished.append(
          "\(Program.name(ofQueue: index)) holds \(queue.operations), \(content.counts)")
      }
    }
    let state = reports.snapshot
    if state.startingCount > 0 { unfinished.append("\(state.startingCount) calls of start()") }
    // An operation may be executing and no longer be reachable, if it was started directly and the
    // program has released its reference.
    for index in state.entries.indices where state.entries[index].isRunning {
      unfinished.append("the body of \(Program.name(ofOperation: index))")
    }
    unfinished += reachable.filter { !$0.isFinished }.map(\.debugDescription)
    return unfinished
  }

  // MARK: Verdict

  private var verdict: [String] {
    let state = reports.snapshot
    var findings = state.violations + wrongObservers
    for (index, entry) in state.entries.enumerated() {
      let name = Program.name(ofOperation: index)
      let isUsed = entry.queue != nil || entry.isStartedByHand
      let mustRun = isUsed && !entry.mayNotRun
      for other in entry.required where entry.beginCount > 0 {
        guard let required = operation(other), required.isCancelled else { continue }
        findings.append(
          "\(name) has run, and \(Program.name(ofOperation: other)), which it requires, was cancelled"
        )
      }
      if entry.beginCount > 1 || entry.beginCount < (mustRun ? 1 : 0)
        || !isUsed && entry.beginCount > 0
      {
        findings.append("\(name) has run \(entry.beginCount) times")
      }
      if entry.endCount != entry.beginCount {
        findings.append(
          "\(name) has begun \(entry.beginCount) times, ended \(entry.endCount) times")
      }
    }
    for index in program.queues.indices {
      guard let queue = queue(index) else { continue }
      let counts = queue.schedulerContent.counts
      let left = counts.finished + counts.cancelled
      if counts.unfinished + counts.cancelling > 0
        || left != counts.total
      {
        findings.append("\(Program.name(ofQueue: index)) counts \(counts) when it is empty")
      }
    }
    return findings
  }

  /// The objects that were not released and the notifications that were not sent, although they
  /// should have been.
  private var remains: [String] {
    let state = reports.snapshot
    var remains: [String] = []
    for (index, item) in program.operations.enumerated() {
      let name = Program.name(ofOperation: index)
      let entry = state.entries[index]
      if item.kind != .barrier, !isDestroyed(index, entry) {
        remains.append("\(name) still exists")
      }
      let isUsed = entry.queue != nil || entry.isStartedByHand
      let hasCapture = item.kind == .block || item.kind == .barrier && isUsed
      if hasCapture, !entry.isCaptureDestroyed {
        remains.append("the block of \(name) still exists")
      }
      let expected = item.hasCompletionBlock && isUsed ? 1 : 0
      if item.hasCompletionBlock, isUsed, entry.completionCount != expected {
        remains.append("the completion block of \(name) has run \(entry.completionCount) times")
      }
    }
    for index in program.queues.indices where !state.isQueueDestroyed[index] {
      remains.append("\(Program.name(ofQueue: index)) still exists")
    }
    return remains
  }
}
