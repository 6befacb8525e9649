// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Foundation
import Synchronization

/// A team of threads that add operations at the same time. The threads are started before the
/// measurement.
public final class ProducerTeam: Sendable {
  private final class Shared: Sendable {
    let work = Mutex<(@Sendable () -> Void)?>(nil)
    let done = DispatchSemaphore(value: 0)
  }

  private let shared = Shared()
  private let starts: [DispatchSemaphore]

  /// Starts the threads. They wait for work.
  public init(count: Int) {
    starts = (0..<count).map { _ in DispatchSemaphore(value: 0) }
    for start in starts {
      Thread.detachNewThread { [shared] in
        while true {
          start.wait()
          guard let work = shared.work.withLock({ $0 }) else { break }
          work()
          shared.done.signal()
        }
        shared.done.signal()
      }
    }
  }

  deinit {
    shared.work.withLock { $0 = nil }
    for start in starts { start.signal() }
    for _ in starts { shared.done.wait() }
  }

  /// Calls `work` on each of the threads, and returns when all calls have returned.
  public func run(_ work: @escaping @Sendable () -> Void) {
    shared.work.withLock { $0 = work }
    for start in starts { start.signal() }
    for _ in starts { shared.done.wait() }
  }
}
