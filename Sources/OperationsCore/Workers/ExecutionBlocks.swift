// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The blocks of one ``BlockOperation`` after the first block. Threads of the pool take these
/// blocks one by one.
///
/// The thread that has started the operation takes the blocks that no other thread has begun, so
/// that all blocks run even if the pool has no other thread.
// Unchecked `Sendable` conformance because of `waitingRequest`, which the pool's lock guards.
final class ExecutionBlocks: @unchecked Sendable {
  /// The serial number of the waiting request for another thread; 0 if no request waits.
  @exclusivity(unchecked) var waitingRequest: UInt64 = 0
  private let blocks: [@Sendable () -> Void]
  private let operation: Operation
  /// Whether the operation's queue is a background queue, so that threads of low scheduling priority run the
  /// blocks.
  let isInBackground: Bool
  /// The context of the operation's work.
  private let context: (any OperationContext)?
  /// The queue of the operation. It is retained, because the operation may leave the queue before
  /// the blocks have ended if a subclass announces its finish.
  private let queue: OperationQueue?
  private let takenCount = Atomic<Int>(0)
  private let unfinishedCount: Atomic<Int>
  private let latch = Latch()
  /// The pool that provides threads for the blocks.
  private let pool: WorkerPool

  init(
    _ blocks: [@Sendable () -> Void], of operation: Operation, in queue: OperationQueue?,
    on pool: WorkerPool = .shared
  ) {
    self.blocks = blocks
    self.pool = pool
    self.operation = operation
    context = operation.contextOfWork
    self.queue = queue
    isInBackground = queue?.core.isInBackground ?? false
    unfinishedCount = Atomic(blocks.count)
  }

  /// Runs blocks on a thread of the pool, and requests another thread if more blocks wait.
  func help() {
    var mustAsk = true
    while let block = take() {
      if mustAsk, hasMore { pool.help(self) }
      mustAsk = false
      CurrentWork.run(operation, for: queue) {
        if let context { context.bind(block) } else { block() }
      }
      ForkedProcess.check("to return from a block that called fork()")
      finishOne()
    }
  }

  /// Runs the blocks that no other thread has begun, and then waits until the other blocks have
  /// ended. Called by the thread that has started the operation.
  func finishAll() {
    while let block = take() {
      block()
      finishOne()
    }
    pool.withdraw(self)
    latch.wait()
    // While this thread waited, a thread that took one of the last blocks may have requested
    // another thread.
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
