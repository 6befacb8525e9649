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
      let number: UInt64
      let thread: pthread_t
      /// The block; `nil` after the queue has run the block or the block was cancelled.
      weak var block: InnerBlock?
    }

    private struct State {
      var lastNumber: UInt64 = 0
      var entries: [Entry] = []
      /// When the number of entries reaches this limit, the entries without a block are removed.
      var entryLimit = 16
    }

    private let state = Locked(State())

    /// Adds a block. The block runs in the queue, or earlier if this thread waits for it.
    func add(_ block: @escaping @Sendable () -> Void, to queue: OperationsCore.OperationQueue) {
      let inner = InnerBlock(block)
      let thread = pthread_self()
      let isCrowded = state.withLock { state in
        state.lastNumber += 1
        state.entries.append(Entry(number: state.lastNumber, thread: thread, block: inner))
        return state.entries.count >= state.entryLimit
      }
      if isCrowded { removeEntriesWithoutBlock() }
      queue.addOperation { inner.run() }
    }

    private func removeEntriesWithoutBlock() {
      // The blocks are read outside the lock, because this thread may release the last reference to a
      // block that it reads.
      let gone = state.withLock { $0.entries }.filter { $0.block == nil }
      let numbers = Set(gone.map(\.number))
      state.withLock { state in
        state.entries.removeAll { numbers.contains($0.number) }
        state.entryLimit = max(16, 2 * state.entries.count)
      }
    }

    /// Runs the blocks that this thread has added and that have not begun, in the order in which they were
    /// added, and waits for the blocks of this thread that already run on other threads.
    func finishThoseOfThisThread() {
      let thread = pthread_self()
      // The blocks are removed from the list before they run, because a block may add other blocks and wait
      // for them.
      let own = state.withLock { state in
        defer { state.entries.removeAll { pthread_equal($0.thread, thread) != 0 } }
        return state.entries.compactMap { pthread_equal($0.thread, thread) != 0 ? $0.block : nil }
      }
      for block in own { block.finish() }
    }
  }

  /// A block that runs once, on the first thread that calls `run()`.
  private final class InnerBlock: Sendable {
    private let block: Locked<(@Sendable () -> Void)?>
    private let hasFinished = DispatchSemaphore(value: 0)

    init(_ block: @escaping @Sendable () -> Void) { self.block = Locked(block) }

    /// Runs the block, unless another thread has called `run()` before.
    func run() {
      guard let block = block.withLock({ $0.take() }) else { return }
      block()
      hasFinished.signal()
    }

    /// Waits until the block has run. Only one thread calls this method, and only once.
    func finish() {
      run()
      hasFinished.wait()
    }
  }
#endif
