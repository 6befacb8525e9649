// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CSystem
import Dispatch
import Glibc

/// What can be known of the main dispatch queue and of the main thread.
///
/// The two are not the same: once the main thread has gone, as in `dispatchMain()` and below an
/// asynchronous `main`, another thread serves the queue.
enum MainDispatchQueue {
  /// Marks the queue. `DispatchQueue.main` makes a new object each time on Linux, so that identity
  /// says nothing.
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether the calling code runs on the main dispatch queue, or on one that targets it.
  static var isRunningHere: Bool { DispatchQueue.getSpecific(key: key) == true }

  /// Whether the calling thread is the process's first one.
  static var isMainThread: Bool { csystem_thread_id() == getpid() }

  /// Whether nothing that waits in the main dispatch queue can run until the caller returns.
  static var isHeldHere: Bool { isRunningHere || isMainThread }

  /// Whether `queue` is the main dispatch queue itself.
  static func isSame(as queue: DispatchQueue) -> Bool { queue.getSpecific(key: key) == true }
}
