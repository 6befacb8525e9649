// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The side of an operation that others depend on.
extension Operation {
  /// After how many dependents those that are ready are handed over.
  private static let handOverInterval = 1_024

  // MARK: Telling them

  /// Tells everyone who waits for this operation. Called once, after it has finished.
  final func releaseDependents() {
    var chain = releaseDependents(in: nil)
    precondition(chain.popFirst() == nil, "There is no queue to hand anything to")
  }

  /// As ``releaseDependents()``, on a worker of this queue that will look into it at once.
  ///
  /// - Returns: Dependents in that queue, for the caller to hand over there; their `inInbox` is set.
  @inline(__always)
  final func releaseDependents(in queue: QueueCore?) -> OperationChain {
    let status = status.load(ordering: .acquiring)
    if status.has(.hasFinishDuties) { performFinishDuties() }
    return status.has(.hasDependents) ? tellDependents(in: queue) : OperationChain()
  }

  @inline(__always)
  private final func tellDependents(in queue: QueueCore?) -> OperationChain {
    var chain = OperationChain()
    // Most have one, and nothing else that would have to be taken under the lock.
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
      // The first of very many do not wait until the last has been told.
      if index % Self.handOverInterval == Self.handOverInterval - 1 { handOver(&chain) }
    }
    if !asked.isEmpty { Self.askReadinessElsewhere(asked) }
  }

  /// Tells one dependent.
  ///
  /// - Returns: Whether its overridden `isReady` is to be asked. The caller has the unowned reference to the
  ///   dependent then; else the reference has been given up.
  private final func tell(
    _ dependent: Unmanaged<Operation>, in queue: QueueCore?, _ chain: inout OperationChain
  ) -> Bool {
    // Its memory is there as long as the unowned reference is.
    guard let verdict = dependent._withUnsafeGuaranteedRef({ $0.countOffInQueue() }) else {
      tellOutsideQueue(dependent, &chain)
      return false
    }
    let mustAsk =
      verdict.asksReadiness && dependent._withUnsafeGuaranteedRef { $0.overridesReadiness }
    // Before the reference is given up: one that must not be pushed may be freed upon that.
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

  /// Hands a dependent over to its queue, which is another one than that of the worker.
  @inline(never)
  private final func push(_ dependent: Operation, from queue: QueueCore?) {
    if queue != nil, let scope = CurrentWork.scope, scope.pointee.acceptsNextQueue {
      dependent.enqueuedQueue?._withUnsafeGuaranteedRef { $0.pushAgain(dependent, from: scope) }
    } else {
      dependent.pushToQueue()
    }
  }

  /// Asks the overridden `isReady` of operations whose last dependency has finished, because subclasses
  /// evaluate their conditions there. Not on this thread, which may hold a lock of the dependency's
  /// subclass.
  ///
  /// - Parameter operations: The operations, with unowned references, which this gives up.
  @inline(never)
  static func askReadinessElsewhere(_ operations: [Unmanaged<Operation>]) {
    OperationQueue.duties.addOperation {
      for operation in operations { claim(operation)?.askReadinessBeforeStart() }
    }
  }

  /// Asks the overridable `isReady`, unless a queue has chosen the operation: it asks before the start.
  private final func askReadinessBeforeStart() {
    let status = status.load(ordering: .acquiring)
    if status.isPending, !status.has(.dispatched) { readReadinessAgain() }
  }

  @inline(__always)
  private final func countOffInQueue() -> OperationStatus.Verdict? {
    update { $0.dependencyWasMetInQueue() }
  }

  /// Tells one that a reference is needed for: it is not in a queue that retains it, or somebody observes
  /// it.
  @inline(never)
  private final func tellOutsideQueue(
    _ dependent: Unmanaged<Operation>, _ chain: inout OperationChain
  ) {
    // An observer, or a `deinit`, may go on for as long as it likes.
    handOver(&chain)
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    guard let dependent = Self.claim(dependent) else { return }
    // An observer may wait for this operation, which is not retired yet.
    Delivery.during(self) { dependent.countOffDependency() }
  }

  /// Hands what was left to the worker over to whichever one comes.
  private final func handOver(_ chain: inout OperationChain) {
    while let ready = chain.popFirst() { ready._withUnsafeGuaranteedRef { $0.pushToQueue() } }
  }

  // MARK: Listing them

  /// - Returns: `false` where this operation has finished: nobody will be told any more.
  final func listDependent(_ dependent: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    // With the flag set before it finishes, the finisher comes for the list; see `takeDependents`.
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

  /// - Returns: Whether it was listed and the caller has to count the edge off.
  final func unlistDependent(_ dependent: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    // Who finishes it counts off what is listed, if that is not done.
    if status.load(ordering: .sequentiallyConsistent).isFinished { return false }
    let opaque = Unmanaged.passUnretained(dependent).toOpaque()
    let extra = extra.load(ordering: .relaxed)
    if links.firstDependent?.toOpaque() == opaque {
      // Those behind it move up: they are told in the order in which they were added.
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
    // It has finished. Who adds or removes a dependent takes the lock first and looks at the status
    // then: either sees the finish and leaves the list alone, or is seen here.
    if !lock.isFree {
      lock.lock()
      lock.unlock()
    }
    let first = links.firstDependent
    links.firstDependent = nil
    let extra = extra.load(ordering: .acquiring)
    if extra.isNothing { return (first, nil, []) }
    if let second = extra.dependent {
      // Unless somebody makes a rare state of it.
      let (isTaken, _) = self.extra.compareExchange(
        expected: extra, desired: OperationExtra(), ordering: .acquiringAndReleasing)
      if isTaken { return (first, second, []) }
    }
    guard let rare else { return (first, nil, []) }
    defer { rare.moreDependents = [] }
    return (first, nil, rare.moreDependents)
  }

  /// Turns an unowned reference into a strong one, or into nothing where there is no operation.
  static func claim(_ unowned: Unmanaged<Operation>) -> Operation? {
    defer { swift_unownedRelease(unowned.toOpaque()) }
    guard let retained = swift_tryRetain(unowned.toOpaque()) else { return nil }
    return Unmanaged<Operation>.fromOpaque(retained).takeRetainedValue()
  }
}
