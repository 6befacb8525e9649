// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// An operation whose work is one or more blocks.
///
/// Several blocks run at the same time, on threads of their own, and take one slot of the queue
/// together; the operation finishes when all of them have.
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

  /// The blocks that are to run, in the order in which they were added; empty once they have begun.
  public final var executionBlocks: [@Sendable () -> Void] {
    lock.lock()
    defer { lock.unlock() }
    guard mayChangeBlocks, let firstBlock else { return [] }
    return [firstBlock] + (rare?.moreBlocks ?? [])
  }

  /// Adds a block, to run at the same time as the others.
  ///
  /// - Precondition: The operation has not started.
  public final func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
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
  /// Each block runs once, whoever calls this: where an operation of exactly this class was started,
  /// they belong to the thread that did so.
  open override func main() {
    lock.lock()
    let mayTake = !isExactlyBlockOperation || mayChangeBlocks
    let taken = mayTake ? takeBlocksLocked() : (nil, nil)
    lock.unlock()
    run(taken)
  }

  final override func runBody() -> Bool {
    if isExactlyBlockOperation { runBlocks() } else { main() }
    return true
  }

  /// What `start()` does on one of the queue's workers, but for what its critical section will do.
  ///
  /// - Returns: What this has made ready in that queue, for its critical section too.
  /// - Precondition: The queue has chosen it. The class is exactly this one, so that nobody but an
  ///   observer can tell the difference.
  @inline(__always)
  final func startWithoutRetiring(in queue: QueueCore) -> OperationChain {
    if status.load(ordering: .acquiring).has(.startClaimed) {
      runBlocks()
      // Then the finish, too, is left to the critical section.
      if status.load(ordering: .acquiring).finishesQuietly { return OperationChain() }
      finishRun()
    } else {
      startSlowly()
    }
    return releaseDependents(in: queue)
  }

  /// Somebody observes it, or it was cancelled.
  @inline(never)
  private final func startSlowly() {
    switch update({ $0.startUnobserved() }) {
    case nil: _ = run(isByHand: false)
    case .run:
      runBlocks()
      finishRun()
    case .finishWithoutRunning: discardWork()
    case .nothing, .refuse: break
    }
  }

  final override func discardWork() {
    if isExactlyBlockOperation {
      let taken = takeBlocksAsStarter()
      return withExtendedLifetime(taken) {}
    }
    // A subclass may say that it has finished while another thread is in its `main()`.
    lock.lock()
    let taken = takeBlocksLocked()
    lock.unlock()
    withExtendedLifetime(taken) {}
  }

  // MARK: Taking the blocks

  /// Whether the blocks are still there for everybody: whoever holds the lock, and then finds this so,
  /// may use them.
  private final var mayChangeBlocks: Bool {
    status.load(ordering: .sequentiallyConsistent).isPending
  }

  private typealias Blocks = (first: (@Sendable () -> Void)?, more: [@Sendable () -> Void]?)

  /// Takes the blocks of an operation of exactly this class, for the caller to run or to release.
  ///
  /// Only for the one thread that has claimed the start, or the finish without one: it needs no lock.
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
    guard let rare, !rare.moreBlocks.isEmpty else { return nil }
    defer { rare.moreBlocks = [] }
    return rare.moreBlocks
  }

  @inline(__always)
  private final func runBlocks() { run(takeBlocksAsStarter()) }

  @inline(__always)
  private final func run(_ blocks: Blocks) {
    guard let more = blocks.more else {
      blocks.first?()
      return
    }
    run(blocks.first, and: more)
  }

  @inline(never)
  private final func run(_ first: (@Sendable () -> Void)?, and more: [@Sendable () -> Void]) {
    let remaining = CountdownLatch(count: more.count)
    // Retained for the blocks: a subclass may say that it has finished before they have.
    let queue = OperationQueue.current
    for block in more {
      WorkerPool.shared.run { [self] in
        CurrentWork.run(self, for: queue, block)
        remaining.countDown()
      }
    }
    first?()
    remaining.wait()
  }
}

/// Opens when it has been counted down to zero.
private final class CountdownLatch: Sendable {
  private let remaining: Atomic<Int>
  private let latch = Latch()

  init(count: Int) { remaining = Atomic(count) }

  func countDown() {
    if remaining.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      latch.open()
    }
  }

  func wait() { latch.wait() }
}
