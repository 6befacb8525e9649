// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CSystem
import Synchronization

extension Operation {
  // MARK: Start

  final func performStart() {
    let isReadyNow = status.load(ordering: .acquiring).has(.dispatched) || isReady
    // Workers start a plain block operation by another way: a call that comes here is by hand.
    let isByHand = isExactlyBlockOperation
    switch update({ $0.start(isReady: isReadyNow, isByHand: isByHand) }) {
    case .nothing: return
    case .refuse(let kind): refuseStart(kind)
    case .finishWithoutRunning:
      announce("isFinished") {}
      finishWasSet()
    case .run:
      announce("isExecuting") {}
      CurrentWork.run(self) { main() }
      // A subclass may have said by now that it is finished; what follows was done then.
      var isFirst = false
      announce("isExecuting", "isFinished") { isFirst = update { $0.finish() } }
      if isFirst { finishWasSet() }
    }
  }

  private final func refuseStart(_ kind: Misuse.Kind) {
    let reason =
      switch kind {
      case .receiverAlreadyExecuting: "it is already executing"
      case .receiverNotReady: "it is not yet ready to execute"
      case .simultaneousStart: "another thread is starting it"
      default: "it is enqueued in an operation queue, which will start it"
      }
    Misuse.raise(kind, "-[Operation start]: \(description) cannot be started: \(reason)")
  }

  /// Posts will for each key, makes the change, posts did for each key.
  ///
  /// The methods are the subclass's to override; a plain block operation has none to call.
  private final func announce(_ key: String, _ other: String? = nil, change: () -> Void) {
    if isExactlyBlockOperation { return change() }
    willChangeValue(forKey: key)
    if let other { willChangeValue(forKey: other) }
    change()
    didChangeValue(forKey: key)
    if let other { didChangeValue(forKey: other) }
  }

  // MARK: What subclasses announce

  final func valueDidChange(forKey key: String) {
    switch key {
    case "isFinished", "finished":
      if isFinished, update({ $0.finish() }) { finishWasSet() }
    case "isExecuting", "executing":
      if isExecuting { update { $0.noteExecuting() } }
    case "isCancelled", "cancelled":
      if isCancelled { cancelWasAnnounced() }
    case "isReady", "ready":
      readReadinessAgain()
    default: break
    }
  }

  /// Asks the overridable `isReady` and lets the queue know where the answer is news to it.
  final func readReadinessAgain() {
    let reading = update { $0.beginReading() }
    let isReadyNow = isReady
    if update({ $0.readinessWasRead(isReadyNow, reading: reading) }).mustPush { pushToQueue() }
  }

  // MARK: Cancel

  final func performCancel() {
    let verdict = update { $0.cancel() }
    guard verdict.didCancel else { return }
    if verdict.mustPush { pushToQueue() }
    if verdict.becameReady {
      announce("isCancelled", "isReady") {}
    } else {
      announce("isCancelled") {}
    }
  }

  /// A subclass keeps a flag of its own and has not called `super.cancel()`.
  private final func cancelWasAnnounced() {
    if update({ $0.cancel() }).mustPush { pushToQueue() }
  }

  // MARK: Finish

  /// What follows the finish: dependents, then the queue, then waiters and the completion block.
  ///
  /// Called once, by whoever made the status finished, on any thread, perhaps under a lock of the
  /// subclass's: nothing of the user's is called from here but `deinit`s.
  final func finishWasSet() {
    releaseDependents()
    if let queue = enqueuedQueue {
      queue._withUnsafeGuaranteedRef { $0.retire(self) }
    } else {
      update { $0.retire() }
      wasRetired()
    }
  }

  /// Wakes waiters and submits the completion block. The status says `retired` already.
  final func wasRetired() {
    let status = status.load(ordering: .acquiring)
    if status.has(.hasWaiters) { wakeWaiters() }
    if status.has(.hasCompletion) { submitCompletion() }
  }

  private final func submitCompletion() {
    let block = makeRare { rare -> (@Sendable () -> Void)? in
      defer { rare.completionBlock = nil }
      return rare.completionBlock
    }
    guard let block else { return }
    // Asynchronously: the finishing thread may hold locks of the user's. The operation lives until
    // its block has run.
    OperationQueue.completions.addOperation {
      block()
      withExtendedLifetime(self) {}
    }
  }

  // MARK: Queue

  /// The queue that has taken the operation; valid until the operation is retired.
  final var enqueuedQueue: Unmanaged<QueueCore>? {
    while status.load(ordering: .acquiring).has(.enqueued) {
      if let known = queue.load(ordering: .acquiring) { return known }
      // The adding thread has claimed the operation and is about to say for which queue.
      csystem_spin_hint()
    }
    return nil
  }

  /// Puts the operation into its queue's inbox.
  ///
  /// - Precondition: The caller has set `inInbox` in the status. That keeps the queue alive: an
  ///   operation that is on its way to the inbox is not let go of.
  final func pushToQueue() {
    guard let queue = enqueuedQueue else { return }
    queue._withUnsafeGuaranteedRef { $0.pushAgain(self) }
  }

  /// Tells a collector, if there is one, that name, priority or dependencies are new.
  final func noteDescriptionChanged() {
    if MonitorLevel.isOn, update({ $0.descriptionDidChange() }) { pushToQueue() }
  }
}
