// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Starts operations when they are ready, in the order of their priorities, so many at a time.
///
/// An operation belongs to the queue from when it is added until it has finished. The queue retains
/// it for that time, and stays alive itself while it has unfinished operations, whether or not its
/// user holds it.
///
/// Every member may be used on any thread.
///
/// Source: Apple, "NSOperationQueue Class Reference".
// Unchecked because an open class cannot be checked. Its stored properties are thread-safe.
open class OperationQueue: @unchecked Sendable {
  /// The value of ``maxConcurrentOperationCount`` that leaves the number to the system.
  public static let defaultMaxConcurrentOperationCount = -1

  final let core: QueueCore
  final let keyValueObservations = KeyValueObservations()
  final let companionReference = Atomic<Unmanaged<AnyObject>?>(nil)

  /// Creates a queue of default width that is not suspended.
  public init() {
    core = QueueCore()
    core.belongs(to: self)
    QueueRegistry.add(self)
  }

  /// A queue that monitors are not to see.
  init(unlistedNamed name: String) {
    core = QueueCore()
    core.belongs(to: self)
    core.withScheduler { scheduler, _ in scheduler.name = name }
    QueueRegistry.add(self, isListed: false)
  }

  /// The process's ``main`` queue, which is never destroyed.
  init(main: Void) {
    core = QueueCore(isMain: true)
    core.belongs(to: self)
    core.configureAsMain()
    QueueRegistry.add(self)
  }

  deinit {
    let companion = tellCompanionOfEnd()
    keyValueObservations.objectIsGone()
    QueueRegistry.remove(self)
    companion?.release()
  }

  /// Where completion blocks run: on workers like any other work, so that they cost no more threads
  /// than that.
  static let completions = OperationQueue(unlistedNamed: "completion")

  /// Identifies the queue, in state changes for one.
  public final var id: QueueID { core.id }

  // MARK: Adding

  /// Adds an operation, which starts when it is ready and a slot is free, on another thread.
  ///
  /// - Precondition: It is not and was not in a queue, and has not been started.
  open func addOperation(_ operation: Operation) {
    if !core.add(operation) { refuse(operation) }
  }

  /// Adds a block as a ``BlockOperation``, of the queue's ``qualityOfService`` at this moment.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    let operation = BlockOperation(block: block)
    if !core.hasDefaultQualityOfService { operation.qualityOfService = qualityOfService }
    if type(of: self) == OperationQueue.self {
      core.addNew(operation)
    } else {
      // Which a subclass may override.
      addOperation(operation)
    }
  }

  /// Adds several operations as one step: their priorities decide which one starts first.
  ///
  /// - Parameters:
  ///   - operations: The operations; where one may not be added, none is.
  ///   - waits: Whether to block until all of these, and only these, have finished.
  @available(*, noasync, message: "May block a thread of the concurrency runtime")
  open func addOperations(_ operations: [Operation], waitUntilFinished waits: Bool) {
    if waits, core.isMain, MainDispatchQueue.isHeldHere, !operations.isEmpty {
      return refuseToWaitOnMain("-[OperationQueue addOperations:waitUntilFinished:]")
    }
    if let refused = core.add(operations) { return refuse(refused) }
    guard waits else { return }
    for operation in operations { operation.waitUntilFinished() }
  }

  /// Adds a block that runs after everything that was added before it has finished, and before
  /// anything that is added after it starts, whatever the priorities.
  ///
  /// It runs alone, as one operation of the queue does: it needs a slot, and waits while the queue is
  /// suspended. It is no operation that ``operations`` lists or ``operationCount`` counts, but
  /// ``waitUntilAllOperationsAreFinished()`` waits for it, and ``cancelAllOperations()`` keeps it from
  /// running. Cancelled operations, and a cancelled barrier itself, keep the order too. Adding one
  /// takes the same time however many operations and barriers the queue holds.
  ///
  /// An operation that stands ahead of a barrier and depends on one behind it waits for ever: for
  /// itself, by way of the barrier. Cancelling it lets everything go on.
  ///
  /// Source: Apple, "OperationQueue.addBarrierBlock(_:)".
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    core.addBarrier(BlockOperation(block: barrier))
  }

  private final func refuse(_ operation: Operation) {
    Misuse.raise(
      .cannotEnqueue,
      "-[OperationQueue addOperation:]: \(operation.description) cannot be added: it is finished, "
        + "executing or already in a queue")
  }

  // MARK: Announcing changes

  /// Announces that the value of `key` is about to change. For subclasses' own properties; the queue
  /// announces its own.
  open func willChangeValue(forKey key: String) { valueWillChange(forKey: key) }

  /// Announces that the value of `key` has changed. Pair it with `willChangeValue(forKey:)` on the
  /// same thread.
  open func didChangeValue(forKey key: String) { valueDidChange(forKey: key) }

  /// The value of a property by name, with or without `is`.
  ///
  /// - Parameter key: A property of this class; a subclass overrides this for its own keys.
  /// - Returns: The value.
  /// - Precondition: There is a property of this name.
  open func value(forKey key: String) -> Any? { knownValue(forKey: key) }

  // MARK: Control

  /// The most operations that run at once; −1, the default, leaves the number to the system.
  ///
  /// 0 starts nothing. Each number is honoured exactly, for operations that block too. A lower one
  /// does not touch what runs; a higher one takes effect at once.
  ///
  /// - Precondition: Not below −1.
  public final var maxConcurrentOperationCount: Int {
    get { core.withScheduler { scheduler, _ in scheduler.maxConcurrentOperationCount } }
    set {
      guard newValue >= Self.defaultMaxConcurrentOperationCount else {
        return Misuse.raise(
          .negativeWidth,
          "-[OperationQueue setMaxConcurrentOperationCount:]: \(newValue) is below -1")
      }
      guard !isFixed("maxConcurrentOperationCount") else { return }
      announce("maxConcurrentOperationCount", unless: newValue == maxConcurrentOperationCount) {
        core.withScheduler { scheduler, _ in
          scheduler.maxConcurrentOperationCount = newValue
          scheduler.monitor.queueDidChange()
        }
      }
    }
  }

  /// Whether the queue starts nothing new, not even to retire what was cancelled.
  ///
  /// What runs goes on, and operations may be added. Suspended with operations in it and let go of
  /// by its user, a queue stays for ever, unless one of its operations resumes it: call
  /// ``invalidate()`` before letting go.
  public final var isSuspended: Bool {
    get { core.withScheduler { scheduler, _ in scheduler.isSuspended } }
    set {
      guard !isFixed("isSuspended") else { return }
      announce("isSuspended", unless: newValue == isSuspended) {
        core.withScheduler { scheduler, _ in
          scheduler.isSuspended = newValue
          scheduler.monitor.queueDidChange()
        }
      }
    }
  }

  /// A name for people and for the names of threads; by default one made from the queue's id.
  public final var name: String? {
    get {
      let name = core.withScheduler { scheduler, _ in scheduler.name }
      return name.isEmpty ? defaultName : name
    }
    set {
      guard !isFixed("name") else { return }
      let name = newValue ?? ""
      let old = core.withScheduler { scheduler, _ in scheduler.name }
      announce("name", unless: name == old) {
        core.withScheduler { scheduler, _ in
          scheduler.name = name
          scheduler.monitor.queueDidChange()
        }
      }
    }
  }

  /// The name of a queue that was given none.
  final var defaultName: String { "OperationQueue \(id.rawValue)" }

  /// How important the queue's work is; `.default` unless set. Advisory: see ``QualityOfService``.
  ///
  /// An ``underlyingQueue`` with a level of its own overrides what was set here.
  public final var qualityOfService: QualityOfService {
    get { core.qualityOfService }
    set {
      guard !isFixed("qualityOfService") else { return }
      announce("qualityOfService", unless: newValue == qualityOfService) {
        core.qualityOfService = newValue
      }
    }
  }

  /// Calls `cancel()` on every operation that is in the queue, in the order of addition, and keeps
  /// every barrier that has not started from running its block.
  ///
  /// They leave it as they finish; those that have not started need a free slot for that.
  open func cancelAllOperations() {
    let (barriers, operations) = core.withScheduler { scheduler, _ in
      (scheduler.allBarriers, scheduler.allOperations)
    }
    // First: what is ahead of one of them may finish as soon as it is cancelled.
    for barrier in barriers { barrier.cancel() }
    for operation in operations { operation.cancel() }
  }

  /// Cancels everything that is in the queue and lets it drain: ends suspension, and the width 0.
  ///
  /// For whoever lets go of a queue that may be suspended, which would otherwise stay with all that
  /// it holds. Returns at once. The queue may be used further, and what is added afterwards runs.
  public final func invalidate() {
    cancelAllOperations()
    if maxConcurrentOperationCount == 0 {
      maxConcurrentOperationCount = Self.defaultMaxConcurrentOperationCount
    }
    if isSuspended { isSuspended = false }
  }

  /// Blocks until the queue is empty at a moment, barriers and what is added meanwhile included.
  ///
  /// - Precondition: Not called from inside one of the queue's own operations.
  @available(*, noasync, message: "Blocks a thread of the concurrency runtime")
  public final func waitUntilAllOperationsAreFinished() {
    if CurrentWork.servedQueue === core, CurrentWork.operation != nil {
      return Misuse.raise(
        .waitInsideOwnQueue,
        "-[OperationQueue waitUntilAllOperationsAreFinished]: called inside an operation of “"
          + "\(name ?? "")”, which would wait for itself")
    }
    if core.isMain, MainDispatchQueue.isHeldHere, core.hasPending {
      return refuseToWaitOnMain("-[OperationQueue waitUntilAllOperationsAreFinished]")
    }
    let latch = Latch()
    guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(latch) }) else { return }
    CurrentWork.waiting(for: .queue(self)) { latch.wait() }
  }

  // MARK: Contents

  /// The operations that have not finished, in the order of addition. A copy.
  public final var operations: [Operation] {
    core.withScheduler { scheduler, _ in scheduler.allOperations }
  }

  /// How many operations have not finished.
  public final var operationCount: Int {
    core.withScheduler { scheduler, _ in scheduler.counts.unfinished }
  }
}
