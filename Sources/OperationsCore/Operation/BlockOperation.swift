// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation whose work is one or more blocks.
///
/// Several blocks run at the same time, as far as threads are available, and use one slot of the
/// queue together. The operation finishes when all blocks have ended. The thread that has started
/// the operation runs the blocks that no other thread has begun. If blocks wait for each other,
/// each block needs a thread. They wait forever if there are more blocks than the
/// ``WorkerConfiguration/threadLimit`` allows.
///
/// Source: Apple, "NSBlockOperation Class Reference".
// Unchecked `Sendable` conformance for the reason given at `Operation`. The operation's lock guards
// the blocks, with the exception described at `takeBlocksAsStarter()`.
open class BlockOperation: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var firstBlock: (@Sendable () -> Void)?

  /// Creates an operation without blocks, which finishes immediately when it is started.
  public override init() { super.init() }

  /// Creates an operation that runs one block.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    firstBlock = block
  }

  /// Releases the blocks, and only after that the dependencies. Without this `deinit`, the stored
  /// blocks would be released after the dependencies; see ``AsyncOperation``.
  deinit {
    if firstBlock == nil { return }
    let unrun = takeBlocksLocked()
    withExtendedLifetime(unrun) {}
  }

  /// The blocks, in the order in which they were added. The array is empty once a queue has begun
  /// to run the blocks.
  open var executionBlocks: [@Sendable () -> Void] {
    lock.lock()
    defer { lock.unlock() }
    guard hasNotBegunInQueue, let firstBlock else { return [] }
    return [firstBlock] + (rare?.moreBlocks ?? [])
  }

  /// Adds a block, which runs at the same time as the operation's other blocks.
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
      OperationMisuse.raise(
        .addsBlockAfterStart,
        "-[BlockOperation addExecutionBlock:]: \(description) executes or has finished")
    }
  }

  /// Runs the blocks, and returns when all of them have ended.
  ///
  /// Each direct call runs all blocks. The blocks are released when the operation finishes in a
  /// queue. From then on, this method does nothing. If the operation is of exactly this class, this
  /// method also does nothing while a queue executes the operation.
  open override func main() {
    lock.lock()
    let blocks: Blocks =
      !isExactlyBlockOperation || hasNotBegunInQueue ? (firstBlock, moreBlocks) : (nil, nil)
    lock.unlock()
    run(blocks)
  }

  final override func runBody() -> Bool {
    // In a queue, the blocks belong to the thread that runs them. If the program started the
    // operation directly, the blocks stay in the operation, so that `main()` can run them again.
    if isExactlyBlockOperation, status.load(ordering: .acquiring).has(.enqueued),
      let scope = CurrentWork.scope
    {
      runBlocks(scope)
    } else {
      main()
    }
    return true
  }

  /// Does the work of `start()` on one of the queue's workers, except for the work that is done in
  /// the critical section of the queue.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - scope: Records that this thread executes the operation.
  /// - Returns: The operations that became ready in the same queue, which the critical section of
  ///   the queue handles. The result is `nil` if the operation was retired when its block was
  ///   released.
  /// - Precondition: The queue has chosen the operation. The operation's class is exactly
  ///   `BlockOperation`, so that only an observer can detect the difference from `start()`.
  @inline(__always)
  final func startWithoutRetiring(
    in queue: QueueCore, _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) -> OperationChain? {
    if status.load(ordering: .acquiring).has(.startClaimed) {
      runBlocks(scope)
      if scope.pointee.operation == nil { return nil }
      // If the finish of the operation requires no notification, the critical section of the queue
      // also finishes the operation.
      if status.load(ordering: .acquiring).finishesQuietly { return OperationChain() }
      finishRun()
    } else {
      startSlowly(scope)
      if scope.pointee.operation == nil { return nil }
    }
    if status.load(ordering: .acquiring).has(.releasesDependenciesWhenFinished),
      forgetsUsersObjects(scope)
    {
      return nil
    }
    return releaseDependents(in: queue)
  }

  /// Starts an operation that is observed or was cancelled. A cancelled operation without observers
  /// has a shorter path than ``run(isByHand:)``, because a program may cancel many operations at
  /// once.
  @inline(never)
  private final func startSlowly(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    switch update({ $0.startUnobserved() }) {
    case nil: _ = run(isByHand: false)
    case .run:
      runBlocks(scope)
      finishRun()
    case .finishWithoutRunning, .nothing, .refuse: break
    }
    // A cancelled operation is retired (leaves its queue) before its blocks are released, because
    // their release may run code that needs the slot of the operation.
    guard let unrun = takeWork(mayRunAgain: false) else { return }
    CurrentWork.retire(scope)
    withExtendedLifetime(unrun) {}
  }

  final override func takeWork(mayRunAgain: Bool) -> Any? {
    if mayRunAgain { return nil }
    // The blocks are removed under the lock. A subclass may announce its finish while another
    // thread is in its `main()`, and a thread may call `main()` directly while this thread finishes
    // a cancelled operation.
    lock.lock()
    let taken = takeBlocksLocked()
    lock.unlock()
    return taken.first == nil ? nil : taken
  }

  // MARK: Taking the blocks

  /// Whether the blocks are still available to all threads. A thread that holds the lock and reads
  /// `true` may use the blocks.
  private final var mayChangeBlocks: Bool {
    status.load(ordering: .sequentiallyConsistent).isPending
  }

  /// Whether no queue has begun to run the blocks. A thread that holds the lock and reads `true`
  /// may read the blocks, because no thread of a queue removes the blocks of an operation that is
  /// started directly.
  private final var hasNotBegunInQueue: Bool {
    let status = status.load(ordering: .sequentiallyConsistent)
    return status.isPending || !status.has(.enqueued)
  }

  private typealias Blocks = (first: (@Sendable () -> Void)?, more: [@Sendable () -> Void]?)

  /// Removes and returns the blocks of an operation of exactly this class. The caller runs or
  /// releases them.
  ///
  /// Only the queue's thread that has claimed the start, or the finish without a start, may call
  /// this method. It needs no lock, for the following reason. Every other thread acquires the lock,
  /// reads the status, and uses the blocks only if the operation is still pending. The calling
  /// thread has changed the status, and reads the lock after that. All of these accesses are
  /// sequentially consistent. So either the other thread sees the start, or this thread sees that
  /// the other one holds the lock.
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

  /// Removes and returns the blocks.
  ///
  /// - Precondition: The caller holds the operation's lock.
  private final func takeBlocksLocked() -> Blocks { (firstBlock.take(), takeMoreBlocks()) }

  @inline(__always)
  private final func takeMoreBlocks() -> [@Sendable () -> Void]? {
    if !extra.load(ordering: .relaxed).isRare { return nil }
    guard let moreBlocks else { return nil }
    rare?.moreBlocks = []
    return moreBlocks
  }

  /// The blocks after the first one; `nil` if the operation has at most one block.
  private final var moreBlocks: [@Sendable () -> Void]? {
    guard let rare, !rare.moreBlocks.isEmpty else { return nil }
    return rare.moreBlocks
  }

  @inline(__always)
  private final func runBlocks(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    guard lock.isFree else { return runSeveral(scope) }
    let extra = extra.load(ordering: .relaxed)
    if !extra.isNothing {
      if extra.isRare { return runSeveral(scope) }
      // When the operation has finished, its dependents are read.
      extra.prefetch()
    }
    let first = firstBlock.take()
    run((first, nil))
    // The objects that the block has captured may have a `deinit` that waits for the slot that this
    // operation still holds.
    scope.pointee.isReleasing = true
    Self.release(consume first)
    scope.pointee.isReleasing = false
  }

  @inline(never)
  private final func runSeveral(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    var blocks = takeBlocksAsStarter()
    var others: ExecutionBlocks?
    withContext {
      others = run(blocks)
      return true
    }
    CurrentWork.releasing(scope) {
      others = nil
      blocks = (nil, nil)
    }
    withExtendedLifetime((blocks, others)) {}
  }

  /// Releases a block when this function is called, and not earlier or later.
  @inline(never)
  private static func release(_ block: consuming (@Sendable () -> Void)?) {}

  /// Runs the blocks, which the caller has removed from the operation.
  ///
  /// - Returns: The object that retains the blocks after the first one; `nil` if there is at most
  ///   one block.
  @inline(__always) @discardableResult
  private final func run(_ blocks: Blocks) -> ExecutionBlocks? {
    guard let more = blocks.more else {
      blocks.first?()
      return nil
    }
    return run(blocks.first, and: more)
  }

  /// Runs several blocks at the same time, and returns when all of them have ended.
  ///
  /// - Returns: The object that retains the blocks after the first one.
  @inline(never)
  private final func run(
    _ first: (@Sendable () -> Void)?, and more: [@Sendable () -> Void]
  ) -> ExecutionBlocks {
    ForkedProcess.check("to run several blocks at the same time")
    // The blocks belong to the queue that this thread serves, and not to `OperationQueue.current`.
    // If the program starts an operation on the main thread, `OperationQueue.current` is the main
    // queue, but the blocks of that operation are not operations of the main queue.
    let queue = OperationQueue.servedQueue
    let pool = queue?.core.pool ?? .shared
    let blocks = ExecutionBlocks(more, of: self, in: queue, on: pool)
    pool.help(blocks)
    first?()
    blocks.finishAll()
    return blocks
  }
}
