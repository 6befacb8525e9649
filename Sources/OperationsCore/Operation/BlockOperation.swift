// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation whose work is one or more blocks.
///
/// Several blocks run at the same time, as far as there are threads, and take one slot of the queue
/// together; the operation finishes when all of them have. The thread that has started the operation
/// runs the blocks that no other thread has begun. If blocks wait for each other, each needs a thread: they wait
/// for ever if they are more than the ``WorkerConfiguration/threadLimit`` allows.
///
/// Source: Apple, "NSBlockOperation Class Reference".
// Unchecked for the reason given at `Operation`; the blocks are guarded by its lock, but for what is
// said at `takeBlocksAsStarter()`.
open class BlockOperation: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var firstBlock: (@Sendable () -> Void)?

  /// Creates an operation without blocks, which finishes at once when it is started.
  public override init() { super.init() }

  /// Creates an operation that runs one block.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    firstBlock = block
  }

  /// Before the dependencies go, and not after them, as stored properties do; see ``AsyncOperation``.
  deinit {
    if firstBlock == nil { return }
    let unrun = takeBlocksLocked()
    withExtendedLifetime(unrun) {}
  }

  /// The blocks, in the order in which they were added; empty once they have begun in a queue.
  open var executionBlocks: [@Sendable () -> Void] {
    lock.lock()
    defer { lock.unlock() }
    guard hasNotBegunInQueue, let firstBlock else { return [] }
    return [firstBlock] + (rare?.moreBlocks ?? [])
  }

  /// Adds a block, to run at the same time as the others.
  ///
  /// - Precondition: The operation has not started.
  open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    lock.lock()
    let isTaken = mayChangeBlocks
    if isTaken {
      if firstBlock == nil { firstBlock = block } else { rareLocked.moreBlocks.append(block) }
    }
    lock.unlock()
    if !isTaken {
      Misuse.raise(
        .addsBlockAfterStart,
        "-[BlockOperation addExecutionBlock:]: \(description) executes or has finished")
    }
  }

  /// Runs the blocks; returns when all of them have.
  ///
  /// Called by hand it runs them each time. They are released when the operation finishes in a queue;
  /// from then on this does nothing. If the operation is of exactly this class, it does nothing either
  /// while a queue runs the operation.
  open override func main() {
    lock.lock()
    let blocks: Blocks =
      !isExactlyBlockOperation || hasNotBegunInQueue ? (firstBlock, moreBlocks) : (nil, nil)
    lock.unlock()
    run(blocks)
  }

  final override func runBody() -> Bool {
    // A queue's blocks are the thread's that runs them; those of an operation that is started by hand
    // stay, for a call of `main()` that follows.
    if isExactlyBlockOperation, status.load(ordering: .acquiring).has(.enqueued),
      let scope = CurrentWork.scope
    {
      runBlocks(scope)
    } else {
      main()
    }
    return true
  }

  /// What `start()` does on one of the queue's workers, but for what its critical section will do.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - scope: What says that this thread runs the operation.
  /// - Returns: What this has made ready in that queue, for its critical section too. `nil` if the
  ///   operation was retired when its block was released.
  /// - Precondition: The queue has chosen it. The class is exactly this one, so that nobody but an
  ///   observer can tell the difference.
  @inline(__always)
  final func startWithoutRetiring(
    in queue: QueueCore, _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) -> OperationChain? {
    if status.load(ordering: .acquiring).has(.startClaimed) {
      runBlocks(scope)
      if scope.pointee.operation == nil { return nil }
      // Then the finish, too, is left to the critical section.
      if status.load(ordering: .acquiring).finishesQuietly { return OperationChain() }
      finishRun()
    } else {
      startSlowly(scope)
      if scope.pointee.operation == nil { return nil }
    }
    if status.load(ordering: .acquiring).has(.forgetsDependencies), forgetsUsersObjects(scope) {
      return nil
    }
    return releaseDependents(in: queue)
  }

  /// Starts it if it is observed, or was cancelled.
  @inline(never)
  private final func startSlowly(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    switch update({ $0.startUnobserved() }) {
    case nil: _ = run(isByHand: false)
    case .run:
      runBlocks(scope)
      finishRun()
    case .finishWithoutRunning, .nothing, .refuse: break
    }
    // If it was cancelled: the release of the blocks may need the slot.
    guard let unrun = takeWork(mayRunAgain: false) else { return }
    CurrentWork.retire(scope)
    withExtendedLifetime(unrun) {}
  }

  final override func takeWork(mayRunAgain: Bool) -> Any? {
    if mayRunAgain { return nil }
    // A subclass may say that it has finished while another thread is in its `main()`; and `main()` may
    // be called by hand while this thread finishes what was cancelled.
    lock.lock()
    let taken = takeBlocksLocked()
    lock.unlock()
    return taken.first == nil ? nil : taken
  }

  // MARK: Taking the blocks

  /// Whether the blocks are still there for everybody: whoever holds the lock, and then finds this so,
  /// may use them.
  private final var mayChangeBlocks: Bool {
    status.load(ordering: .sequentiallyConsistent).isPending
  }

  /// As ``mayChangeBlocks``, for reading: no queue's thread takes the blocks of an operation that is
  /// started by hand.
  private final var hasNotBegunInQueue: Bool {
    let status = status.load(ordering: .sequentiallyConsistent)
    return status.isPending || !status.has(.enqueued)
  }

  private typealias Blocks = (first: (@Sendable () -> Void)?, more: [@Sendable () -> Void]?)

  /// Takes the blocks of an operation of exactly this class, for the caller to run or to release.
  ///
  /// Only for the one thread of a queue that has claimed the start, or the finish without one: it needs
  /// no lock.
  /// Others take it first and leave the blocks alone unless they find the operation pending then; this
  /// one has changed the status and looks at the lock. As all of that is sequentially consistent,
  /// either they see the start or they are seen here.
  @inline(__always)
  private final func takeBlocksAsStarter() -> Blocks {
    if lock.isFree { return (firstBlock.take(), takeMoreBlocks()) }
    return takeBlocksAfterOthers()
  }

  @inline(never)
  private final func takeBlocksAfterOthers() -> Blocks {
    lock.lock()
    defer { lock.unlock() }
    return takeBlocksLocked()
  }

  /// - Precondition: The lock is held.
  private final func takeBlocksLocked() -> Blocks { (firstBlock.take(), takeMoreBlocks()) }

  @inline(__always)
  private final func takeMoreBlocks() -> [@Sendable () -> Void]? {
    if extra.load(ordering: .relaxed).isNothing { return nil }
    guard let moreBlocks else { return nil }
    rare?.moreBlocks = []
    return moreBlocks
  }

  /// The blocks after the first; `nil` if there are none.
  private final var moreBlocks: [@Sendable () -> Void]? {
    guard let rare, !rare.moreBlocks.isEmpty else { return nil }
    return rare.moreBlocks
  }

  @inline(__always)
  private final func runBlocks(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    guard lock.isFree, extra.load(ordering: .relaxed).isNothing else { return runSeveral(scope) }
    let first = firstBlock.take()
    run((first, nil))
    // Its captures may have a `deinit` that waits for the slot that this operation still holds.
    scope.pointee.isReleasing = true
    Self.release(consume first)
    scope.pointee.isReleasing = false
  }

  @inline(never)
  private final func runSeveral(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    var blocks = takeBlocksAsStarter()
    var others = run(blocks)
    CurrentWork.releasing(scope) {
      others = nil
      blocks = (nil, nil)
    }
    withExtendedLifetime((blocks, others)) {}
  }

  /// Ends the life of a block at a known moment.
  @inline(never)
  private static func release(_ block: consuming (@Sendable () -> Void)?) {}

  /// - Returns: What keeps the blocks after the first, if there are some.
  @inline(__always) @discardableResult
  private final func run(_ blocks: Blocks) -> ExecutionBlocks? {
    guard let more = blocks.more else {
      blocks.first?()
      return nil
    }
    return run(blocks.first, and: more)
  }

  /// - Returns: What keeps the blocks after the first.
  @inline(never)
  private final func run(
    _ first: (@Sendable () -> Void)?, and more: [@Sendable () -> Void]
  ) -> ExecutionBlocks {
    ForkedProcess.check("to run several blocks at the same time")
    let queue = OperationQueue.currentQueue
    let pool = queue?.core.pool ?? .shared
    let blocks = ExecutionBlocks(more, of: self, in: queue, on: pool)
    pool.help(blocks)
    first?()
    blocks.finishAll()
    return blocks
  }
}
