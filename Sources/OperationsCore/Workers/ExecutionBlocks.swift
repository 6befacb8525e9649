// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The blocks of one ``BlockOperation`` after the first, which threads of the pool take one by one.
///
/// The thread that has started the operation takes the blocks that no other thread has begun, so
/// that all of them run even if there is no other thread.
// Unchecked because of `waitingRequest`, which is guarded by the pool's lock.
final class ExecutionBlocks: @unchecked Sendable {
  /// The number of the waiting request for another thread; 0 if no request waits.
  @exclusivity(unchecked) var waitingRequest: UInt64 = 0
  private let blocks: [@Sendable () -> Void]
  private let operation: Operation
  /// The queue, retained because a subclass may announce its finish before the blocks have ended.
  private let queue: OperationQueue?
  private let takenCount = Atomic<Int>(0)
  private let unfinishedCount: Atomic<Int>
  private let latch = Latch()
  /// The pool that provides further threads.
  private let pool: WorkerPool

  init(
    _ blocks: [@Sendable () -> Void], of operation: Operation, in queue: OperationQueue?,
    on pool: WorkerPool = .shared
  ) {
    self.blocks = blocks
    self.pool = pool
    self.operation = operation
    self.queue = queue
    unfinishedCount = Atomic(blocks.count)
  }

  /// Runs blocks on a thread of the pool, and requests another thread if there are others to run.
  func help() {
    var mustAsk = true
    while let block = take() {
      if mustAsk, hasMore { pool.help(self) }
      mustAsk = false
      CurrentWork.run(operation, for: queue, block)
      ForkedProcess.check("to return from a block that called fork()")
      finishOne()
    }
  }

  /// Runs the blocks that no other thread has begun, and waits for the others. Called by the thread that
  /// has started the operation.
  func finishAll() {
    while let block = take() {
      block()
      finishOne()
    }
    pool.withdraw(self)
    latch.wait()
    // A thread that took one of the last blocks may have requested another thread meanwhile.
    pool.withdraw(self)
  }

  private var hasMore: Bool { takenCount.load(ordering: .relaxed) < blocks.count }

  private func take() -> (@Sendable () -> Void)? {
    guard hasMore else { return nil }
    let index = takenCount.wrappingAdd(1, ordering: .relaxed).oldValue
    return index < blocks.count ? blocks[index] : nil
  }

  private func finishOne() {
    if unfinishedCount.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      latch.open()
    }
  }
}
