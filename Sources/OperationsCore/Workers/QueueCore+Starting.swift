// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// Starts an operation that was taken, on the calling thread, which says in its frame that it runs
  /// this one.
  ///
  /// - Returns: The operation, where it has finished and is still to be retired.
  @inline(__always)
  func start(_ operation: Operation) -> Operation? {
    if let block = operation.asExactlyBlockOperation {
      block.startWithoutRetiring()
      return operation
    }
    // The last moment to ask a subclass, on a thread that holds no lock of anybody's.
    let status = operation.status.load(ordering: .acquiring)
    if !status.isCancelled, !operation.isReady {
      withScheduler { scheduler, _ in scheduler.park(operation, reading: status.reading) }
      return nil
    }
    operation.start()
    return nil
  }
}
