// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CSystem
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
    guard let firstBlock else { return [] }
    return [firstBlock] + (rare?.moreBlocks ?? [])
  }

  /// Adds a block, to run at the same time as the others.
  ///
  /// - Precondition: The operation has not started.
  public final func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    lock.lock()
    let isTaken = status.load(ordering: .acquiring).isPending
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
  /// - Precondition: The class is exactly this one, so that nobody but an observer can tell the
  ///   difference.
  final func startWithoutRetiring() {
    switch update({ $0.startUnobserved() }) {
    case nil: _ = run(isByHand: false)
    case .run:
      runBlocks()
      // Somebody may have begun to observe it meanwhile.
      if update({ $0.finishUnobserved() }) == nil { _ = announceFinish(wasExecuting: true) }
    case .finishWithoutRunning: discardWork()
    case .nothing, .refuse: return
    }
    releaseDependents()
  }

  final override func discardWork() { releaseBlocks(takeBlocks()) }

  private final func takeBlocks() -> ((@Sendable () -> Void)?, [@Sendable () -> Void]) {
    lock.lock()
    defer { lock.unlock() }
    let rare = rare
    let taken = (firstBlock, rare?.moreBlocks ?? [])
    firstBlock = nil
    rare?.moreBlocks = []
    return taken
  }

  /// Ends the life of blocks and what they captured outside the lock.
  private final func releaseBlocks(_: ((@Sendable () -> Void)?, [@Sendable () -> Void])) {}

  private final func runBlocks() {
    let (first, more) = takeBlocks()
    guard !more.isEmpty else {
      first?()
      return
    }
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
