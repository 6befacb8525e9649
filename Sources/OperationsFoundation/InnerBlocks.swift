// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Dispatch
  import Foundation
  import OperationsCore

  /// Blocks that were added to a queue inside an operation of that queue.
  ///
  /// A notification center adds a block to the observer's queue, and then waits until the queue has finished
  /// everything. If the poster is an operation of that queue, Foundation calls the observer directly. In this
  /// library, the thread that waits runs the blocks that it has added itself. So the notification is
  /// delivered before `post` returns, even if the operation holds the only slot of the queue.
  final class InnerBlocks: Sendable {
    private struct Entry {
      let thread: pthread_t
      /// The block; `nil` after the queue has run the block or the block was cancelled.
      weak var block: InnerBlock?
    }

    private let entries = Locked<[Entry]>([])

    /// Adds a block. The block runs in the queue, or earlier if this thread waits for it.
    func add(_ block: @escaping @Sendable () -> Void, to queue: OperationsCore.OperationQueue) {
      let inner = InnerBlock(block)
      let thread = pthread_self()
      entries.withLock { entries in
        entries.removeAll { $0.block == nil }
        entries.append(Entry(thread: thread, block: inner))
      }
      queue.addOperation { inner.run() }
    }

    /// Runs the blocks that this thread has added and that have not begun, in the order in which they were
    /// added, and waits for the blocks of this thread that already run on other threads.
    func finishThoseOfThisThread() {
      let thread = pthread_self()
      // The blocks are removed from the list before they run, because a block may add other blocks and wait
      // for them.
      let own = entries.withLock { entries in
        defer { entries.removeAll { pthread_equal($0.thread, thread) != 0 } }
        return entries.compactMap { pthread_equal($0.thread, thread) != 0 ? $0.block : nil }
      }
      for block in own { block.finish() }
    }
  }

  /// A block that runs once, on the first thread that calls `run()`.
  private final class InnerBlock: Sendable {
    private let block: Locked<(@Sendable () -> Void)?>
    private let hasFinished = DispatchSemaphore(value: 0)

    init(_ block: @escaping @Sendable () -> Void) { self.block = Locked(block) }

    /// Runs the block, unless another thread has called this method before.
    func run() {
      guard let block = block.withLock({ $0.take() }) else { return }
      block()
      hasFinished.signal()
    }

    /// Waits until the block has run. One thread calls this method, once.
    func finish() {
      run()
      hasFinished.wait()
    }
  }
#endif
