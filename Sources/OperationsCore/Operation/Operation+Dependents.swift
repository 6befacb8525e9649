// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The members of an operation that notify and list its dependents.
extension Operation {
  /// The number of notified dependents after which the ready dependents are handed over to their
  /// queue.
  private static let handOverInterval = 1_024

  // MARK: Notifying dependents

  /// Notifies all dependents of this operation. Called once, after it has finished.
  final func releaseDependents() {
    if csystem_is_forked_child() { checkDependents() }
    var chain = releaseDependents(in: nil)
    precondition(
      chain.popFirst() == nil, "An operation that is not in a queue was handed over to a queue")
  }

  /// Ends the process if it is a forked child in which a dependent in a queue would wait forever.
  private final func checkDependents() {
    lock.lock()
    let all = dependentsLocked + (rare?.requirers.operations ?? [])
    lock.unlock()
    for dependent in all {
      dependent._withUnsafeGuaranteedRef { $0.checkProcessBeforeChange() }
    }
  }

  /// Notifies all dependents. If `queue` is not `nil`, this thread is a worker of that queue, and
  /// hands over the returned operations to it.
  ///
  /// - Returns: The dependents that became ready in `queue`. The flag `inInbox` of each of them is
  ///   set.
  @inline(__always)
  final func releaseDependents(in queue: QueueCore?) -> OperationChain {
    let status = status.load(ordering: .acquiring)
    if status.has(.hasFinishDuties) || status.has(.hasDependents), MonitorLevel.isOn {
      recordFinish()
    }
    if status.has(.hasFinishDuties) { performFinishDuties() }
    return status.has(.hasDependents) ? notifyDependents(in: queue) : OperationChain()
  }

  /// Records the finish for a collector, if the operation has a record.
  ///
  /// The inbox of the queue is not read, because that may release other operations, whose `deinit`s
  /// may wait for dependents of this operation. The collector is woken when the operation leaves its
  /// queue.
  @inline(never)
  private final func recordFinish() {
    guard mayHaveRecord, let queue = enqueuedQueue else { return }
    queue._withUnsafeGuaranteedRef {
      $0.scheduler.withLock {
        $0.monitor.willNotifyDependents(self, status.load(ordering: .acquiring))
      }
    }
  }

  @inline(__always)
  private final func notifyDependents(in queue: QueueCore?) -> OperationChain {
    var chain = OperationChain()
    // Most operations have one dependent, and no other data that must be read under the lock. In
    // that case, this method does not acquire the lock.
    if lock.isFree, extra.load(ordering: .acquiring).isNothing {
      if let only = links.firstDependent {
        links.firstDependent = nil
        if notify(only, in: queue, &chain) { Self.askReadinessElsewhere([only]) }
      }
    } else {
      notifyAllDependents(in: queue, &chain)
    }
    return chain
  }

  @inline(never)
  private final func notifyAllDependents(in queue: QueueCore?, _ chain: inout OperationChain) {
    withUnsafeTemporaryAllocation(
      of: Unmanaged<Operation>.self, capacity: EdgeBlock.maximumCapacity
    ) { memory in
      let (first, second, count, more) = takeDependents(memory)
      for dependent in memory[..<count] { csystem_prefetch_line(dependent.toOpaque()) }
      var asked: [Unmanaged<Operation>] = []
      if let first, notify(first, in: queue, &chain) { asked.append(first) }
      if let second, notify(second, in: queue, &chain) { asked.append(second) }
      for dependent in memory[..<count] where notify(dependent, in: queue, &chain) {
        asked.append(dependent)
      }
      for (index, dependent) in more.enumerated() {
        if notify(dependent, in: queue, &chain) { asked.append(dependent) }
        // If an operation has very many dependents, its first ready dependents are handed over to
        // their queue before its last dependent is notified.
        if index % Self.handOverInterval == Self.handOverInterval - 1 {
          handOver(&chain)
          CurrentWork.passNextQueueOn(CurrentWork.scope)
        }
      }
      if !asked.isEmpty { Self.askReadinessElsewhere(asked) }
    }
  }

  /// Notifies one dependent.
  ///
  /// - Returns: Whether the dependent's overridden `isReady` must be evaluated. In that case the caller owns
  ///   the unowned reference to the dependent. Otherwise, the reference has been released.
  private final func notify(
    _ dependent: Unmanaged<Operation>, in queue: QueueCore?, _ chain: inout OperationChain
  ) -> Bool {
    // The dependent's memory is valid until this dependency is counted off. If it is the last one, this thread
    // releases the memory.
    guard let (verdict, isLast) = dependent._withUnsafeGuaranteedRef({ $0.countOffInQueue() })
    else {
      notifyOutsideQueue(dependent, &chain)
      return false
    }
    guard isLast else { return false }
    let mustAsk =
      verdict.asksReadiness && dependent._withUnsafeGuaranteedRef { $0.overridesReadiness }
    // Before the reference to the dependent is released, this thread reads whether the dependent is
    // in this worker's queue. The release may free the dependent if the dependent does not have to
    // be pushed into its queue.
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
  /// subclasses evaluate their own conditions in this property. A thread of the library evaluates
  /// `isReady`, and not the calling thread, which may hold a lock of the dependency's subclass.
  ///
  /// - Parameter operations: The operations, with unowned references, which this method releases.
  @inline(never)
  static func askReadinessElsewhere(_ operations: [Unmanaged<Operation>]) {
    // A forked child process has no thread of the library that could evaluate `isReady`. In such a
    // process, operations are not in a queue, and their `isReady` is read when they are started.
    if csystem_is_forked_child() { return operations.forEach { _ = claim($0) } }
    OperationQueue.duties.addOperation {
      for operation in operations { claim(operation)?.askReadinessBeforeStart() }
    }
  }

  /// Evaluates the overridable `isReady`, if no queue has chosen the operation since its last
  /// dependency finished. If a queue has chosen the operation, the queue evaluates `isReady` before
  /// the start.
  private final func askReadinessBeforeStart() {
    guard let reading = update({ $0.beginFirstReading() }) else { return }
    noteReadiness(isReady, reading: reading, isFirst: true)
  }

  @inline(__always)
  private final func countOffInQueue() -> (OperationStatus.Verdict, isLast: Bool)? {
    update { status in
      status.dependencyWasMetInQueue().map { ($0, isLast: status.unmetDependencyCount == 0) }
    }
  }

  /// Notifies a dependent that must be retained during the notification, because no queue retains
  /// it, or because it is observed.
  @inline(never)
  private final func notifyOutsideQueue(
    _ dependent: Unmanaged<Operation>, _ chain: inout OperationChain
  ) {
    // The dependents that were notified before this one are handed over to their queue first,
    // because an observer or a `deinit` may run for an unlimited time.
    handOver(&chain)
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    guard let dependent = Self.retained(dependent) else { return Self.countOffSilently(dependent) }
    // This operation has not left its queue yet. If an observer waited for this operation, the
    // observer would wait for its own return. So this thread records that it calls observers of
    // this operation.
    Delivery.during(self) { dependent.countOffDependency() }
  }

  /// Hands over operations of this worker's queue, which this worker would otherwise have started,
  /// so that any worker of the queue can start them.
  private final func handOver(_ chain: inout OperationChain) {
    while let ready = chain.popFirst() { ready._withUnsafeGuaranteedRef { $0.pushToQueue() } }
  }

  // MARK: Listing dependents

  /// Adds a dependent to the list.
  ///
  /// - Returns: `false` if this operation has finished, so that no further dependent will be
  ///   notified.
  @inline(__always)
  final func listDependent(_ dependent: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    // If the flag `hasDependents` is set before the finish, the thread that finishes the operation
    // reads the list of dependents; see `takeDependents`.
    guard update({ $0.promise(.hasDependents) }) else { return false }
    let unowned = Unmanaged.passUnretained(dependent)
    if links.firstDependent == nil {
      links.firstDependent = unowned
    } else if extra.load(ordering: .relaxed).isNothing {
      extra.store(OperationExtra(dependent: unowned), ordering: .relaxed)
    } else {
      listFurtherLocked(dependent: unowned)
    }
    return true
  }

  /// Removes a dependent from the list.
  ///
  /// - Returns: Whether the dependent was in the list. If it was, the caller must decrement the
  ///   dependent's number of unmet dependencies.
  final func unlistDependent(_ dependent: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    // If this operation has finished, this method removes nothing, because the thread that has
    // finished the operation handles the listed dependents.
    if status.load(ordering: .sequentiallyConsistent).isFinished { return false }
    let opaque = Unmanaged.passUnretained(dependent).toOpaque()
    let extra = extra.load(ordering: .relaxed)
    if links.firstDependent?.toOpaque() == opaque {
      // The second dependent takes the place of the removed first one, because dependents are
      // notified in the order in which they were added.
      links.firstDependent = takeSecondDependentLocked()
    } else if extra.dependent?.toOpaque() == opaque {
      self.extra.store(OperationExtra(), ordering: .relaxed)
    } else if !unlistFurtherLocked(dependent: dependent) {
      return false
    }
    return true
  }

  /// Removes and returns the second dependent; `nil` if there is none.
  ///
  /// - Precondition: The caller holds the operation's lock.
  private final func takeSecondDependentLocked() -> Unmanaged<Operation>? {
    let extra = extra.load(ordering: .relaxed)
    if let dependent = extra.dependent {
      self.extra.store(OperationExtra(), ordering: .relaxed)
      return dependent
    }
    return edgesLocked?.removeFirstDependent() ?? extra.rare?.moreDependents.removeFirst()
  }

  /// Removes and returns the dependents, in the order in which they were added. The caller owns the
  /// references to them.
  ///
  /// - Parameter memory: Memory for the dependents of an ``EdgeBlock``.
  /// - Returns: The first two dependents, the number of dependents in `memory`, and the others.
  private final func takeDependents(_ memory: UnsafeMutableBufferPointer<Unmanaged<Operation>>) -> (
    first: Unmanaged<Operation>?, second: Unmanaged<Operation>?, count: Int,
    more: [Unmanaged<Operation>]
  ) {
    // This thread has finished the operation, and needs the lock only if another thread holds it. A
    // thread that adds or removes a dependent acquires the lock and then reads the status. Either
    // that thread sees the finish and does not change the list, or this thread sees that the lock
    // is held, and waits.
    if !lock.isFree {
      lock.lock()
      lock.unlock()
    }
    let first = links.firstDependent
    links.firstDependent = nil
    let extra = extra.load(ordering: .acquiring)
    if extra.isNothing { return (first, nil, 0, []) }
    if let second = extra.dependent {
      // The compare-and-swap that removes the second dependent fails if another thread has just
      // moved this dependent to an `EdgeBlock` or a `RareState`.
      let (isTaken, _) = self.extra.compareExchange(
        expected: extra, desired: OperationExtra(), ordering: .acquiringAndReleasing)
      if isTaken { return (first, second, 0, []) }
    }
    let (count, more) = takeFurtherDependents(memory)
    return (first, nil, count, more)
  }

  /// Turns an unowned reference into a strong one; `nil` if the operation no longer exists.
  static func claim(_ unowned: Unmanaged<Operation>) -> Operation? {
    defer { swift_unownedRelease(unowned.toOpaque()) }
    return retained(unowned)
  }

  /// Returns a strong reference to an operation whose memory is valid; `nil` if the operation no longer exists.
  static func retained(_ unowned: Unmanaged<Operation>) -> Operation? {
    guard let retained = swift_tryRetain(unowned.toOpaque()) else { return nil }
    return Unmanaged<Operation>.fromOpaque(retained).takeRetainedValue()
  }
}
