// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization

/// The common part of all running workloads. It runs decisions one at a time, calls the handlers at the end
/// of the workload, and stops the workload. Any thread may call any method.
final class WorkloadRun: Sendable {
  private struct State {
    var isFinished = false
    var handlers: [@Sendable () -> Void] = []
  }

  /// The width of queues at the end. It exceeds the number of operations, in any workload, that wait for
  /// other operations while they run.
  private static let slotsToEnd = 64
  private static let patience = DispatchTimeInterval.seconds(1)

  private let queues: [OperationQueue]
  private let control = DispatchQueue(label: "opq.demo.control")
  private let hasStopped = Atomic(false)
  private let state = Mutex(State())

  /// - Parameter queues: All queues of the workload.
  init(queues: [OperationQueue]) { self.queues = queues }

  /// Whether the workload was shut down. It never becomes `false` again. Work that ignores cancellation ends
  /// when it reads `true`.
  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  /// Runs `body` now, while no other decision runs. If the workload was shut down, does nothing.
  func decideNow(_ body: () -> Void) { control.sync { if !isStopped { body() } } }

  /// Runs `body` soon or after a delay, while no other decision runs. If the workload was shut down, does
  /// nothing.
  func decide(after delay: Duration = .zero, _ body: @escaping @Sendable () -> Void) {
    let work: @Sendable () -> Void = { [self] in if !isStopped { body() } }
    if delay > .zero {
      control.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.nanoseconds)), execute: work)
    } else {
      control.async(execute: work)
    }
  }

  /// See ``DemoWorkload/whenFinished(_:)``.
  func whenFinished(_ handler: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      if !state.isFinished { state.handlers.append(handler) }
      return state.isFinished
    }
    if isFinished { handler() }
  }

  /// Calls the handlers after a workload with `isOnce` has finished.
  func finish() {
    let handlers = state.withLock { state in
      state.isFinished = true
      defer { state.handlers = [] }
      return state.handlers
    }
    // The handlers run on other threads. A handler may shut the workload down, and `shutDown()` waits for the
    // present thread.
    for handler in handlers { DispatchQueue.global().async(execute: handler) }
  }

  /// See ``DemoWorkload/shutDown()``.
  func shutDown() {
    let isOver = DispatchGroup()
    // This call waits until all operations that another thread is adding were added, so that they are
    // cancelled too. After that, no operation is added.
    control.sync {
      hasStopped.store(true, ordering: .releasing)
      dropHandlers()
      for queue in queues { end(queue, isOver) }
    }
    _ = isOver.wait(timeout: .now() + Self.patience)
  }

  private func end(_ queue: OperationQueue, _ isOver: DispatchGroup) {
    queue.invalidate()
    // Even a cancelled operation needs a slot to leave its queue. If all slots are held by operations that
    // wait for other operations of the same queue, the queue needs more slots.
    queue.maxConcurrentOperationCount = max(queue.maxConcurrentOperationCount, Self.slotsToEnd)
    isOver.enter()
    queue.addBarrierBlock { isOver.leave() }
  }

  private func dropHandlers() {
    // The handlers are released outside the lock, because they may hold the last references to other objects.
    let handlers = state.withLock { state in
      defer { state.handlers = [] }
      return state.handlers
    }
    withExtendedLifetime(handlers) {}
  }
}
