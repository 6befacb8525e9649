// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization

/// The common part of all running workloads. It runs the closures that control the workload one at a time,
/// calls the handlers at the end of the workload, and stops the workload. Any thread may call any method.
final class WorkloadRun: Sendable {
  private struct State {
    var isFinished = false
    var handlers: [@Sendable () -> Void] = []
  }

  /// The minimum width of each queue while the workload is shut down. In every workload, fewer operations
  /// than this number hold a slot while they wait for other operations.
  private static let slotsToEnd = 64
  private static let patience = DispatchTimeInterval.seconds(1)

  private let queues: [OperationQueue]
  private let control = DispatchQueue(label: "opq.demo.control")
  private let hasStopped = Atomic(false)
  private let state = Mutex(State())

  /// Creates a run of a workload that was not shut down.
  ///
  /// - Parameter queues: All queues of the workload.
  init(queues: [OperationQueue]) { self.queues = queues }

  /// Whether the workload was shut down. The value never changes from `true` to `false`. Work that ignores
  /// cancellation ends when it reads `true`.
  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  /// Runs a closure that controls the workload, on the present thread. At any time, at most one closure that
  /// controls the workload runs. If the workload was shut down, the function does nothing.
  func decideNow(_ body: () -> Void) { control.sync { if !isStopped { body() } } }

  /// Runs a closure that controls the workload, on another thread, immediately or after a delay. At any time,
  /// at most one closure that controls the workload runs. If the workload was shut down, the closure does not
  /// run.
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

  /// Calls the handlers after a workload that runs once (`isOnce`) has finished.
  func finish() {
    let handlers = state.withLock { state in
      state.isFinished = true
      defer { state.handlers = [] }
      return state.handlers
    }
    // The handlers run on other threads. A handler may call `shutDown()`, which waits for the closure that
    // calls this function. On the present thread, that wait would never end.
    for handler in handlers { DispatchQueue.global().async(execute: handler) }
  }

  /// See ``DemoWorkload/shutDown()``.
  func shutDown() {
    let isOver = DispatchGroup()
    // If another thread is adding operations, `sync` waits until that thread has added all of them, so that
    // these operations are cancelled too. After `sync` has returned, no operation is added.
    control.sync {
      hasStopped.store(true, ordering: .releasing)
      dropHandlers()
      for queue in queues { end(queue, isOver) }
    }
    _ = isOver.wait(timeout: .now() + Self.patience)
  }

  private func end(_ queue: OperationQueue, _ isOver: DispatchGroup) {
    queue.cancelAllAndResume()
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
