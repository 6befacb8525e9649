// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization

/// The common part of all running workloads. It runs decisions one at a time, calls handlers at the end, and
/// can stop the run. Any thread may call any method.
final class WorkloadRun: Sendable {
  private struct State {
    var isFinished = false
    var handlers: [@Sendable () -> Void] = []
  }

  /// A width that is greater than the number of operations, in any workload, that wait for other operations
  /// during their work.
  private static let slotsToEnd = 64
  private static let patience = DispatchTimeInterval.seconds(1)

  private let queues: [OperationQueue]
  private let control = DispatchQueue(label: "opq.demo.control")
  private let hasStopped = Atomic(false)
  private let state = Mutex(State())

  /// - Parameter queues: All queues of the workload.
  init(queues: [OperationQueue]) { self.queues = queues }

  /// Whether the workload was shut down. It never becomes `false` again. Work that ignores its cancellation
  /// ends when it reads `true`.
  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  /// Runs `body` now, while no other decision runs. Does nothing after the workload was shut down.
  func decideNow(_ body: () -> Void) { control.sync { if !isStopped { body() } } }

  /// Runs `body` soon, or after a delay, while no other decision runs. Does nothing after the workload was
  /// shut down.
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

  /// Calls the handlers when a run with `isOnce` has finished.
  func finish() {
    let handlers = state.withLock { state in
      state.isFinished = true
      defer { state.handlers = [] }
      return state.handlers
    }
    // The handlers run on another thread, because a handler may shut the workload down, which waits for this
    // thread.
    for handler in handlers { DispatchQueue.global().async(execute: handler) }
  }

  /// See ``DemoWorkload/shutDown()``.
  func shutDown() {
    let isOver = DispatchGroup()
    // Waits until operations that are being added have been added, so that they are cancelled too. No
    // operation is added after that.
    control.sync {
      hasStopped.store(true, ordering: .releasing)
      dropHandlers()
      for queue in queues { end(queue, isOver) }
    }
    _ = isOver.wait(timeout: .now() + Self.patience)
  }

  private func end(_ queue: OperationQueue, _ isOver: DispatchGroup) {
    queue.invalidate()
    // Even a cancelled operation needs a slot to leave the queue. If operations that wait for others of the
    // same queue hold all slots, the queue needs more slots.
    queue.maxConcurrentOperationCount = max(queue.maxConcurrentOperationCount, Self.slotsToEnd)
    isOver.enter()
    queue.addBarrierBlock { isOver.leave() }
  }

  private func dropHandlers() {
    // Handlers may hold the last references to objects, which must not be released under the lock.
    let handlers = state.withLock { state in
      defer { state.handlers = [] }
      return state.handlers
    }
    withExtendedLifetime(handlers) {}
  }
}
