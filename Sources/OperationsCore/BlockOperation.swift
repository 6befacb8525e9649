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
// Unchecked for the reason given at `Operation`; `blocks` is guarded by its lock.
open class BlockOperation: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var firstBlock: (@Sendable () -> Void)?

  /// Creates an operation without blocks, which finishes at once when it is started.
  public override init() { super.init() }

  /// Creates an operation that runs one block.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    firstBlock = block
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
  open override func main() { runBlocks() }

  /// What `start()` does on one of the queue's workers, but for what its critical section will do.
  ///
  /// - Returns: What this has made ready.
  /// - Precondition: The queue has chosen it. The class is exactly this one, so that nobody but an
  ///   observer can tell the difference.
  @inline(__always)
  final func startWithoutRetiring(in queue: QueueCore) -> Successors {
    if status.load(ordering: .acquiring).has(.startClaimed) {
      runBlocks()
      // Then the finish, too, is left to the critical section.
      if status.load(ordering: .acquiring).finishesQuietly { return Successors() }
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
    let taken = takeBlocks()
    withExtendedLifetime(taken) {}
  }

  // MARK: Taking the blocks

  /// Whether the blocks are still there for everybody: whoever holds the lock, and then finds this so,
  /// may use them.
  private final var mayChangeBlocks: Bool {
    status.load(ordering: .sequentiallyConsistent).isPending
  }

  /// Takes the blocks, for the caller to run or to release, outside the lock.
  ///
  /// The thread that has started the operation needs no lock: others take it first and look at the
  /// status then, this one has changed the status and looks at the lock. As all of that is
  /// sequentially consistent, either they see the start or they are seen here.
  @inline(__always)
  private final func takeBlocks() -> (first: (@Sendable () -> Void)?, more: [@Sendable () -> Void]?)
  {
    if mayChangeBlocks || !lock.isFree { return takeBlocksLocked() }
    return (firstBlock.take(), takeMoreBlocks())
  }

  @inline(never)
  private final func takeBlocksLocked() -> (
    first: (@Sendable () -> Void)?, more: [@Sendable () -> Void]?
  ) {
    lock.lock()
    defer { lock.unlock() }
    return (firstBlock.take(), takeMoreBlocks())
  }

  @inline(__always)
  private final func takeMoreBlocks() -> [@Sendable () -> Void]? {
    if extra.load(ordering: .relaxed).isNothing { return nil }
    guard let rare, !rare.moreBlocks.isEmpty else { return nil }
    defer { rare.moreBlocks = [] }
    return rare.moreBlocks
  }

  @inline(__always)
  private final func runBlocks() {
    let (first, more) = takeBlocks()
    guard let more else {
      first?()
      return
    }
    run(first, and: more)
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
