// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import Synchronization

/// What every workload needs while it runs: a place where decisions are made one at a time, who
/// waits for the end, and a way to stop. Any thread may call any method.
final class WorkloadRun: Sendable {
  private struct State {
    var isFinished = false
    var handlers: [@Sendable () -> Void] = []
  }

  /// More than a workload has operations that wait inside for others.
  private static let slotsToEnd = 64
  private static let patience = DispatchTimeInterval.seconds(1)

  private let queues: [OperationQueue]
  private let control = DispatchQueue(label: "opq.demo.control")
  private let hasStopped = Atomic(false)
  private let state = Mutex(State())

  /// - Parameter queues: All queues of the workload.
  init(queues: [OperationQueue]) { self.queues = queues }

  /// Whether the workload was shut down. Never goes back. Work that ignores its cancellation ends
  /// when it sees this.
  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  /// Runs `body` now, alone; not at all once the workload was shut down.
  func decideNow(_ body: () -> Void) { control.sync { if !isStopped { body() } } }

  /// Runs `body` soon, or after some time, alone; not at all once the workload was shut down.
  func decide(after delay: Duration = .zero, _ body: @escaping @Sendable () -> Void) {
    let work: @Sendable () -> Void = { [self] in if !isStopped { body() } }
    if delay > .zero {
      control.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.nanoseconds)), execute: work)
    } else {
      control.async(execute: work)
    }
  }

  /// As ``DemoWorkload/whenFinished(_:)``.
  func whenFinished(_ handler: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      if !state.isFinished { state.handlers.append(handler) }
      return state.isFinished
    }
    if isFinished { handler() }
  }

  /// The once-run has finished: tells those who wait for it.
  func finish() {
    let handlers = state.withLock { state in
      state.isFinished = true
      defer { state.handlers = [] }
      return state.handlers
    }
    // Not here: a handler may well shut the workload down, which waits for this thread.
    for handler in handlers { DispatchQueue.global().async(execute: handler) }
  }

  /// As ``DemoWorkload/shutDown()``.
  func shutDown() {
    let isOver = DispatchGroup()
    // What is being added is added before it is cancelled, and nothing is added afterwards.
    control.sync {
      hasStopped.store(true, ordering: .releasing)
      dropHandlers()
      for queue in queues { end(queue, isOver) }
    }
    _ = isOver.wait(timeout: .now() + Self.patience)
  }

  private func end(_ queue: OperationQueue, _ isOver: DispatchGroup) {
    queue.invalidate()
    // Even what is cancelled needs a slot to leave. Where all of them are held by operations that
    // wait for others of the same queue, only more of them help.
    queue.maxConcurrentOperationCount = max(queue.maxConcurrentOperationCount, Self.slotsToEnd)
    isOver.enter()
    queue.addBarrierBlock { isOver.leave() }
  }

  private func dropHandlers() {
    // Their captures may be the last references to something; that is no business of the lock.
    let handlers = state.withLock { state in
      defer { state.handlers = [] }
      return state.handlers
    }
    withExtendedLifetime(handlers) {}
  }
}
