// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch

/// Information about the main dispatch queue and the main thread.
///
/// The main dispatch queue is not always served by the main thread. If the main thread has ended,
/// as with `dispatchMain()` or an asynchronous `main`, another thread serves the queue.
enum MainDispatchQueue {
  /// Whether the calling code runs on the main dispatch queue, or on a queue that targets it.
  static var isRunningHere: Bool { csystem_is_on_main_dispatch_queue() }

  /// Whether the calling thread is the first thread of the process.
  static var isMainThread: Bool { csystem_is_first_thread() }

  /// Whether no block in the main dispatch queue can run until the caller returns.
  static var isHeldHere: Bool { isRunningHere || isMainThread }

  /// Returns whether `queue` is the main dispatch queue itself.
  ///
  /// The method compares labels, because the label of the main dispatch queue is reserved. It
  /// cannot compare references, because `DispatchQueue.main` creates a new object at each access on
  /// Linux.
  static func isSame(as queue: DispatchQueue) -> Bool { queue.label == DispatchQueue.main.label }
}
