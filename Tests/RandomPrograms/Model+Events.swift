// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension Model {
  /// The actions of threads in the model. Each action is atomic for the other threads.
  enum Event: Hashable {
    /// An operation that has a slot requests its mutual exclusions.
    case ask(Int)
    /// The queue may choose an operation again whose request for its mutual exclusions was refused.
    /// The operation then repeats the request.
    case invite(Int)
    /// An operation that has finished gives up its mutual exclusions. If it waited for an
    /// exclusion, it no longer waits.
    case release(Int)
    /// The first operation requires the success of the second one, which has finished. If the
    /// second one was cancelled, the first one will be cancelled.
    case decide(Int, Int)
    case cancel(Int)
    case finish(Int)
    /// The first operation is notified that the second one has finished.
    case report(Int, Int)
    /// All dependents have been notified. The operation leaves its queue, and threads that wait for
    /// the operation may continue.
    case leave(Int)
  }

  /// The maximum number of states that are examined until no event is pending.
  private static let stateLimit = 200

  /// Returns the state of the model after all pending events have happened.
  ///
  /// Every order of the events is tried. Returns `nil` if two orders lead to different states.
  func outcome() -> Model? {
    var outcome: Model?
    var seen: Set<Model> = []
    var open = [self]
    while let state = open.popLast() {
      if state.isUndetermined { return nil }
      let next = state.successors
      if next.isEmpty {
        if let outcome, outcome != state { return nil }
        outcome = state
      }
      // If a state has only one successor, the successor need not be remembered, because no other
      // order of events leads to it.
      for successor in next where next.count == 1 || seen.insert(successor).inserted {
        open.append(successor)
      }
      if seen.count > Self.stateLimit { return nil }
    }
    return outcome
  }

  /// The possible next states: one of the threads continues, or a queue starts an operation.
  private var successors: [Model] {
    var states: [Model] = []
    for thread in threads.indices {
      var state = self
      state.advance(thread)
      states.append(state)
    }
    for queue in lines.indices {
      guard let index = nextToStart(in: queue) else { continue }
      var state = self
      state.serve(queue, index)
      states.append(state)
    }
    return states
  }

  private mutating func advance(_ thread: Int) {
    let consequences = happen(threads[thread].removeFirst())
    threads[thread].insert(contentsOf: consequences, at: 0)
    if threads[thread].isEmpty { threads.remove(at: thread) }
  }

  /// Performs an event.
  ///
  /// - Returns: The events that the same thread performs next.
  private mutating func happen(_ event: Event) -> [Event] {
    switch event {
    case .ask(let index): return ask(index)
    case .invite(let index): lookAgain(at: index)
    case .release(let index): release(index)
    case .decide(let index, let other): return decide(index, other)
    case .cancel(let index): return cancel(index)
    case .finish(let index): return finishNow(index)
    case .report(let index, let other):
      hear(index, of: other)
    case .leave(let index): leave(index)
    }
    return []
  }

  // MARK: Events

  /// Cancels an operation, and returns the events that follow. [CA-2 to CA-8, CA-12]
  private mutating func cancel(_ index: Int) -> [Event] {
    if items[index].isCancelled { return [] }
    if items[index].phase == .finished, rules.contains(.finishedStaysUncancelled) { return [] }
    items[index].isCancelled = true
    if items[index].kind == .selfFinishing { return finishNow(index) }
    if items[index].phase == .pending, items[index].kind != .barrier { goAhead(index) }
    // The subclass calls `super.cancel()` and then finishes the operation. The finish is a separate
    // event, because the queue may start and thereby finish the operation between the two.
    if items[index].kind == .stateful { return [.finish(index)] }
    return rules.contains(.onlyFinishSatisfies)
      ? [] : items[index].dependents.map { .report($0, index) }
  }

  /// Moves a cancelled operation behind the operations that were cancelled before it.
  private mutating func goAhead(_ index: Int) {
    guard let queue = items[index].queue, mayStart(index) else { return }
    if lines[queue].executing.contains(index) { return }
    lines[queue].ready.removeAll { $0 == index }
    lines[queue].ready.append(index)
  }

  private mutating func finishNow(_ index: Int) -> [Event] {
    if items[index].phase == .finished { return [] }
    items[index].phase = .finished
    if let queue = items[index].queue { lines[queue].ready.removeAll { $0 == index } }
    let dependents = items[index].dependents
    items[index].dependents = []
    let releases: [Event] = items[index].exclusions.isEmpty ? [] : [.release(index)]
    return releases + decisions(after: index) + dependents.map { .report($0, index) }
      + [.leave(index)]
  }

  /// Removes a dependency that has finished from the awaited dependencies of an operation. After
  /// the last one, a thread of the library reads the operation's `isReady`, which may include a
  /// condition of a subclass. [DE-18]
  private mutating func hear(_ index: Int, of other: Int) {
    items[index].awaited.removeAll { $0 == other }
    let isPending = items[index].phase == .pending && !items[index].isCancelled
    guard items[index].awaited.isEmpty, isPending else { return }
    lookAgain(at: index)
  }

  private mutating func leave(_ index: Int) {
    guard let queue = items[index].queue else { return }
    lines[queue].entries.removeAll { $0 == index }
    lines[queue].executing.removeAll { $0 == index }
    if lines[queue].entries.isEmpty { lines[queue].returnedCount = lines[queue].waiterCount }
    if items[index].kind == .barrier { return }
    if items[index].isCancelled {
      lines[queue].cancelledCount += 1
    } else {
      lines[queue].finishedCount += 1
    }
  }

  // MARK: Queues

  /// Returns the operation that the queue starts next, if any. [PR-3, PR-4, CA-6, MX-1, MX-2, MX-7,
  /// BA-1 to BA-3]
  private func nextToStart(in queue: Int) -> Int? {
    let line = lines[queue]
    if line.isSuspended, rules.contains(.suspension) { return nil }
    let isFull = line.width >= 0 && line.executing.count >= line.width
    if isFull, rules.contains(.width) { return nil }
    let candidates = line.ready.filter { !isBehindBarrier($0, in: line) }
    let highest = candidates.map(urgency).max()
    let most = candidates.filter { urgency(of: $0) == highest }
    return rules.contains(.firstReadyFirst) ? most.first : most.last
  }

  private func isBehindBarrier(_ index: Int, in line: Line) -> Bool {
    guard rules.contains(.barriers) else { return false }
    let ahead = line.entries.prefix { $0 != index }
    return items[index].kind == .barrier
      ? !ahead.isEmpty : ahead.contains { items[$0].kind == .barrier }
  }

  private func urgency(of index: Int) -> Int {
    if items[index].isCancelled, rules.contains(.cancelledFirst) { return Int.max }
    return rules.contains(.priorities) ? items[index].priority.rawValue : 0
  }

  private mutating func serve(_ queue: Int, _ index: Int) {
    lines[queue].ready.removeAll { $0 == index }
    // Before it starts the operation, the queue evaluates the operation's condition for the last
    // time. If the condition is not met, the operation announces the next change.
    guard mayStart(index) else { return }
    lines[queue].executing.append(index)
    if items[index].isCancelled {
      threads.append([.finish(index)])
    } else if items[index].exclusions.isEmpty {
      execute(index)
    } else {
      threads.append([.ask(index)])
    }
  }

  mutating func execute(_ index: Int) {
    items[index].phase = .executing
    items[index].runCount += 1
  }
}
