// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The part of an operation that other operations depend on.
extension Operation {
  /// The number of dependents after which those that are ready are handed over.
  private static let handOverInterval = 1_024

  // MARK: Notifying dependents

  /// Notifies all dependents of this operation. Called once, after it has finished.
  final func releaseDependents() {
    if csystem_is_forked_child() { checkDependents() }
    var chain = releaseDependents(in: nil)
    precondition(chain.popFirst() == nil, "Only a dependent in a queue can be handed over")
  }

  /// Ends a child process in which a dependent in a queue would wait forever.
  private final func checkDependents() {
    let all = [links.firstDependent, extra.load(ordering: .acquiring).dependent].compactMap(\.self)
    for dependent in all + (rare?.moreDependents ?? []) + (rare?.requirers ?? []) {
      dependent._withUnsafeGuaranteedRef { $0.checkProcessBeforeChange() }
    }
  }

  /// Notifies all dependents, on a worker of this queue that will read the queue at once.
  ///
  /// - Returns: Dependents in that queue, for the caller to hand over there; their `inInbox` is
  ///   set.
  @inline(__always)
  final func releaseDependents(in queue: QueueCore?) -> OperationChain {
    let status = status.load(ordering: .acquiring)
    if status.has(.hasFinishDuties) { performFinishDuties() }
    return status.has(.hasDependents) ? tellDependents(in: queue) : OperationChain()
  }

  @inline(__always)
  private final func tellDependents(in queue: QueueCore?) -> OperationChain {
    var chain = OperationChain()
    // Most operations have one dependent, and no other data that must be read under the lock.
    if lock.isFree, extra.load(ordering: .acquiring).isNothing {
      if let only = links.firstDependent {
        links.firstDependent = nil
        if tell(only, in: queue, &chain) { Self.askReadinessElsewhere([only]) }
      }
    } else {
      tellAllDependents(in: queue, &chain)
    }
    return chain
  }

  @inline(never)
  private final func tellAllDependents(in queue: QueueCore?, _ chain: inout OperationChain) {
    let (first, second, more) = takeDependents()
    var asked: [Unmanaged<Operation>] = []
    if let first, tell(first, in: queue, &chain) { asked.append(first) }
    if let second, tell(second, in: queue, &chain) { asked.append(second) }
    for (index, dependent) in more.enumerated() {
      if tell(dependent, in: queue, &chain) { asked.append(dependent) }
      // The first of very many dependents do not wait until the last one is notified.
      if index % Self.handOverInterval == Self.handOverInterval - 1 {
        handOver(&chain)
        CurrentWork.passNextQueueOn(CurrentWork.scope)
      }
    }
    if !asked.isEmpty { Self.askReadinessElsewhere(asked) }
  }

  /// Notifies one dependent.
  ///
  /// - Returns: Whether its overridden `isReady` must be evaluated. In that case the caller has the
  ///   unowned reference to the dependent. Otherwise, the reference has been released.
  private final func tell(
    _ dependent: Unmanaged<Operation>, in queue: QueueCore?, _ chain: inout OperationChain
  ) -> Bool {
    // Its memory is valid as long as the unowned reference exists.
    guard let verdict = dependent._withUnsafeGuaranteedRef({ $0.countOffInQueue() }) else {
      tellOutsideQueue(dependent, &chain)
      return false
    }
    let mustAsk =
      verdict.asksReadiness && dependent._withUnsafeGuaranteedRef { $0.overridesReadiness }
    // Before the reference is released: a dependent that must not be pushed may be freed by that.
    let isHere =
      verdict.mustPush
      && dependent._withUnsafeGuaranteedRef {
        $0.queue.load(ordering: .acquiring)?.toOpaque()
          == queue.map { Unmanaged.passUnretained($0).toOpaque() }
      }
    if !mustAsk { swift_unownedRelease(dependent.toOpaque()) }
    if isHere {
      chain.append(dependent)
    } else if verdict.mustPush {
      dependent._withUnsafeGuaranteedRef { push($0, from: queue) }
    }
    return mustAsk
  }

  /// Hands a dependent over to its queue, which is not the worker's queue.
  @inline(never)
  private final func push(_ dependent: Operation, from queue: QueueCore?) {
    if queue != nil, let scope = CurrentWork.scope, scope.pointee.acceptsNextQueue {
      dependent.enqueuedQueue?._withUnsafeGuaranteedRef { $0.pushAgain(dependent, from: scope) }
    } else {
      dependent.pushToQueue()
    }
  }

  /// Evaluates the overridden `isReady` of operations whose last dependency has finished, because
  /// subclasses evaluate their conditions there. Not on this thread, which may hold a lock of the
  /// dependency's subclass.
  ///
  /// - Parameter operations: The operations, with unowned references, which this method releases.
  @inline(never)
  static func askReadinessElsewhere(_ operations: [Unmanaged<Operation>]) {
    // A child process has no such thread. These operations are not in a queue. Their `isReady` is read when
    // they are started.
    if csystem_is_forked_child() { return operations.forEach { _ = claim($0) } }
    OperationQueue.duties.addOperation {
      for operation in operations { claim(operation)?.askReadinessBeforeStart() }
    }
  }

  /// Evaluates the overridable `isReady`, unless a queue has chosen the operation since: the queue
  /// evaluates it before the start.
  private final func askReadinessBeforeStart() {
    guard let reading = update({ $0.beginFirstReading() }) else { return }
    noteReadiness(isReady, reading: reading, isFirst: true)
  }

  @inline(__always)
  private final func countOffInQueue() -> OperationStatus.Verdict? {
    update { $0.dependencyWasMetInQueue() }
  }

  /// Notifies a dependent for which a reference is necessary: it is not in a queue that retains it,
  /// or it is observed.
  @inline(never)
  private final func tellOutsideQueue(
    _ dependent: Unmanaged<Operation>, _ chain: inout OperationChain
  ) {
    // An observer or a `deinit` may run for an unlimited time.
    handOver(&chain)
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    guard let dependent = Self.claim(dependent) else { return }
    // An observer may wait for this operation, which is not retired yet.
    Delivery.during(self) { dependent.countOffDependency() }
  }

  /// Hands the operations that were left to the worker over to any worker.
  private final func handOver(_ chain: inout OperationChain) {
    while let ready = chain.popFirst() { ready._withUnsafeGuaranteedRef { $0.pushToQueue() } }
  }

  // MARK: Listing dependents

  /// - Returns: `false` if this operation has finished: no further dependent will be notified.
  final func listDependent(_ dependent: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    // If the flag is set before the finish, the finisher reads the list; see `takeDependents`.
    guard update({ $0.promise(.hasDependents) }) else { return false }
    let unowned = Unmanaged.passUnretained(dependent)
    _ = swift_unownedRetain(unowned.toOpaque())
    if links.firstDependent == nil {
      links.firstDependent = unowned
    } else if extra.load(ordering: .relaxed).isNothing {
      extra.store(OperationExtra(dependent: unowned), ordering: .relaxed)
    } else {
      rareLocked.moreDependents.list(unowned)
    }
    return true
  }

  /// - Returns: Whether it was listed, so that the caller must count the edge off.
  final func unlistDependent(_ dependent: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    // The finisher counts off the listed edges, if it has not done so yet.
    if status.load(ordering: .sequentiallyConsistent).isFinished { return false }
    let opaque = Unmanaged.passUnretained(dependent).toOpaque()
    let extra = extra.load(ordering: .relaxed)
    if links.firstDependent?.toOpaque() == opaque {
      // The following dependents move up: they are notified in the order in which they were added.
      links.firstDependent = takeSecondDependentLocked()
    } else if extra.dependent?.toOpaque() == opaque {
      self.extra.store(OperationExtra(), ordering: .relaxed)
    } else if let rare = extra.rare,
      let index = rare.moreDependents.firstIndex(where: { $0.toOpaque() == opaque })
    {
      rare.moreDependents.remove(at: index)
    } else {
      return false
    }
    swift_unownedRelease(opaque)
    return true
  }

  /// - Precondition: The lock is held.
  private final func takeSecondDependentLocked() -> Unmanaged<Operation>? {
    let extra = extra.load(ordering: .relaxed)
    if let dependent = extra.dependent {
      self.extra.store(OperationExtra(), ordering: .relaxed)
      return dependent
    }
    guard let rare = extra.rare, !rare.moreDependents.isEmpty else { return nil }
    return rare.moreDependents.removeFirst()
  }

  /// Takes the dependents, in the order in which they were added, with the references to them.
  private final func takeDependents() -> (
    Unmanaged<Operation>?, Unmanaged<Operation>?, [Unmanaged<Operation>]
  ) {
    // It has finished. A thread that adds or removes a dependent takes the lock first and reads the
    // status then: it either sees the finish and leaves the list alone, or is seen here.
    if !lock.isFree {
      lock.lock()
      lock.unlock()
    }
    let first = links.firstDependent
    links.firstDependent = nil
    let extra = extra.load(ordering: .acquiring)
    if extra.isNothing { return (first, nil, []) }
    if let second = extra.dependent {
      // The exchange fails if another thread has replaced the dependent by a rare state.
      let (isTaken, _) = self.extra.compareExchange(
        expected: extra, desired: OperationExtra(), ordering: .acquiringAndReleasing)
      if isTaken { return (first, second, []) }
    }
    guard let rare else { return (first, nil, []) }
    defer { rare.moreDependents = [] }
    return (first, nil, rare.moreDependents)
  }

  /// Turns an unowned reference into a strong one; `nil` if the operation no longer exists.
  static func claim(_ unowned: Unmanaged<Operation>) -> Operation? {
    defer { swift_unownedRelease(unowned.toOpaque()) }
    guard let retained = swift_tryRetain(unowned.toOpaque()) else { return nil }
    return Unmanaged<Operation>.fromOpaque(retained).takeRetainedValue()
  }
}
