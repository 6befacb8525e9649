// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationQueueSupplement where Self: OperationsCore.OperationQueue {
    /// This queue for those who want Foundation's: `URLSession(configuration:delegate:delegateQueue:)`,
    /// `NotificationCenter.addObserver(forName:object:queue:using:)` and the like.
    ///
    /// What is added to it becomes an operation of this queue: blocks, barrier blocks and operations of
    /// Foundation's. Width, suspension, name, quality of service, underlying queue and progress are
    /// this queue's, to read and to set; cancelling and waiting for all operations concern this queue.
    ///
    /// An operation of Foundation's takes a slot here from its start to its finish, and is started by
    /// this queue, asynchronous or not, in the order of the priority that it had when it was added.
    /// Its dependencies of then hold it up, whichever queue they are in; without a slot. Afterwards it
    /// is best left alone, but for `cancel()`: one that waits for dependencies goes on to do so. One
    /// whose own `isReady` still says no at the start is handed to a queue of Foundation's, which runs
    /// it when that changes, and keeps its slot meanwhile. Cancelling this queue's operations cancels
    /// it; one that finishes so before its dependencies have is taken from them, and lists none after.
    ///
    /// What does not carry over:
    /// - `operations` and `operationCount` cannot be overridden and are empty: ask this queue.
    /// - Inside what it runs `OperationQueue.current` is this queue and `Foundation.OperationQueue.current`
    ///   is `nil`.
    ///
    /// A notification is delivered before `post` returns, as in Foundation, also if an operation of this
    /// queue posts it: the observer's block then runs on the posting thread. For that
    /// `waitUntilAllOperationsAreFinished()` of the Foundation queue, by which the center waits, runs
    /// inside an operation of this queue the blocks that the same thread has added and that have not begun,
    /// and waits for those that run. It waits for nothing else there.
    ///
    /// For `OperationQueue.main` it is `Foundation.OperationQueue.main`: both run on the main dispatch
    /// queue, in the order in which they were given work. What is added to that is not listed here.
    ///
    /// The same object always, made when it is first asked for. Whoever wants it need not hold this
    /// queue, nor need anybody hold it for those who, as notification centres do, refer to it weakly:
    /// it lives as long as this queue, and longer where it is held. Then it works on, through a queue
    /// of the same name, width, suspension, quality of service and underlying queue as this one had.
    public var foundationQueue: Foundation.OperationQueue {
      if isMain { return Foundation.OperationQueue.main }
      return foundationCompanion.forwardingQueue(to: self)
    }
  }
#endif
