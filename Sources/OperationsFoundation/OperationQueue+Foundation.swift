// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationQueueSupplement where Self: OperationsCore.OperationQueue {
    /// This queue as a queue of Foundation's type, for `URLSession(configuration:delegate:delegateQueue:)`,
    /// `NotificationCenter.addObserver(forName:object:queue:using:)` and similar functions.
    ///
    /// Blocks, barrier blocks and operations of Foundation that are added to the value become operations of
    /// this queue. Width, suspension, name, quality of service, underlying queue and progress are those of
    /// this queue and can be read and set. Cancelling and waiting for all operations apply to this queue.
    ///
    /// An operation of Foundation occupies a slot of this queue from its start to its finish. This queue
    /// starts the operation, asynchronous or not, in the order of the priority that it had when it was added.
    /// The operation waits for the dependencies that it had when it was added, in any queue. It occupies no
    /// slot while it waits for them. After an operation is added, call only `cancel()` on it. An operation
    /// that waits for its dependencies continues to wait for them after its own `cancel()`. If the
    /// operation's own `isReady` is still `false` at the start, a queue of Foundation runs the operation when
    /// `isReady` changes. The operation keeps its slot meanwhile. Cancelling this queue's operations cancels
    /// the operation. If the operation finishes in this way before its dependencies, its dependencies are
    /// removed.
    ///
    /// Differences from a queue of Foundation:
    /// - `operations` is empty and `operationCount` is 0, because they cannot be overridden. Use the
    ///   properties of this queue.
    /// - Inside its operations `OperationQueue.current` is this queue and `Foundation.OperationQueue.current`
    ///   is `nil`.
    ///
    /// A notification is delivered before `post` returns, as in Foundation, even if an operation of this
    /// queue posts it: the observer's block then runs on the posting thread. The notification center waits by
    /// `waitUntilAllOperationsAreFinished()` of the Foundation queue. Inside an operation of this queue, that
    /// function runs the blocks that the same thread has added and that have not begun, and waits for the
    /// blocks of the thread that already run. It waits for no other operation.
    ///
    /// For `OperationQueue.main` the value is `Foundation.OperationQueue.main`. Both queues run their
    /// operations on the main dispatch queue, in the order in which the operations were added. Operations
    /// that are added to Foundation's main queue are not listed in this queue.
    ///
    /// The value is always the same object, which is created on the first access. It can be used without a
    /// reference to this queue. It lives as long as this queue, and longer if it is retained. So an object
    /// that refers to it weakly, such as a notification center, needs no other reference to it. After this
    /// queue is deallocated, the object continues to work with a new queue that has the same name, width,
    /// suspension, quality of service and underlying queue.
    public var foundationQueue: Foundation.OperationQueue {
      if isMain { return Foundation.OperationQueue.main }
      return foundationCompanion.forwardingQueue(to: self)
    }
  }
#endif
