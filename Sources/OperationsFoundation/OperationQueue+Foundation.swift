// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationQueueSupplement where Self: OperationsCore.OperationQueue {
    /// This queue as a queue of Foundation's type, for `URLSession(configuration:delegate:delegateQueue:)`,
    /// `NotificationCenter.addObserver(forName:object:queue:using:)` and similar functions.
    ///
    /// Blocks, barrier blocks and operations of Foundation that are added to it become operations of this
    /// queue. Width, suspension, name, quality of service, underlying queue and progress are those of this
    /// queue and can be read and set. Cancelling and waiting for all operations apply to this queue.
    ///
    /// An operation of Foundation occupies a slot of this queue from its start to its finish. This queue
    /// starts it, asynchronous or not, in the order of the priority that it had when it was added. The
    /// dependencies that it had when it was added delay it, whichever queue they are in; it occupies no slot
    /// while it waits for them. After an operation is added, call only `cancel()` on it. An operation that
    /// waits for its dependencies continues to wait for them after its own `cancel()`. If its own `isReady`
    /// is still false at the start, a queue of Foundation runs it when that changes; it keeps its slot
    /// meanwhile. Cancelling this queue's operations cancels it. If it finishes in this way before its
    /// dependencies, it is removed from them and lists none afterwards.
    ///
    /// Differences from a queue of Foundation:
    /// - `operations` and `operationCount` cannot be overridden and are empty. Use those of this queue.
    /// - Inside its operations `OperationQueue.current` is this queue and `Foundation.OperationQueue.current`
    ///   is `nil`.
    ///
    /// A notification is delivered before `post` returns, as in Foundation, even if an operation of this
    /// queue posts it: the observer's block then runs on the posting thread. The notification center waits by
    /// `waitUntilAllOperationsAreFinished()` of the Foundation queue. Inside an operation of this queue that
    /// function runs the blocks that the same thread has added and that have not begun, and waits for those
    /// that run. It waits for nothing else there.
    ///
    /// For `OperationQueue.main` the value is `Foundation.OperationQueue.main`. Both run on the main dispatch
    /// queue, in the order in which they were given work. Operations that are added to Foundation's main
    /// queue are not listed in this queue.
    ///
    /// The value is always the same object, which is made on the first access. It can be used without a
    /// reference to this queue, and objects that refer to it weakly, such as notification centers, need no
    /// other reference to it: it lives as long as this queue, and longer if it is retained. After this queue
    /// is deallocated it continues to work, through a queue of the same name, width, suspension, quality of
    /// service and underlying queue.
    public var foundationQueue: Foundation.OperationQueue {
      if isMain { return Foundation.OperationQueue.main }
      return foundationCompanion.forwardingQueue(to: self)
    }
  }
#endif
