// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import Glibc

/// What can be known of the main dispatch queue and of the main thread.
///
/// The two are not the same: once the main thread has gone, as in `dispatchMain()` and below an
/// asynchronous `main`, another thread serves the queue.
enum MainDispatchQueue {
  /// Whether the calling code runs on the main dispatch queue, or on one that targets it.
  static var isRunningHere: Bool { csystem_is_on_main_dispatch_queue() }

  /// Whether the calling thread is the process's first one.
  static var isMainThread: Bool { csystem_thread_id() == getpid() }

  /// Whether nothing that waits in the main dispatch queue can run until the caller returns.
  static var isHeldHere: Bool { isRunningHere || isMainThread }

  /// Whether `queue` is the main dispatch queue itself.
  ///
  /// By the label, which is reserved for it: on Linux `DispatchQueue.main` makes a new object each
  /// time, so that identity says nothing.
  static func isSame(as queue: DispatchQueue) -> Bool { queue.label == DispatchQueue.main.label }
}
