// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import MonitorProtocol
import OperationsCore

/// The state that the telemetry's thread shares with other threads. Other threads use it to wake
/// the thread and to end it.
final class TelemetryControl: Sendable {
  /// The phases of the telemetry from its start to its end.
  enum Phase: Equatable {
    case running
    /// The telemetry's thread reports all activity up to now, and then ends.
    case stopping
    /// The telemetry's thread ends without reporting further activity.
    case abandoned
    case stopped
  }

  private struct State {
    var phase = Phase.running
    /// The id of the telemetry's thread while it runs; otherwise `nil`.
    var thread: Int32?
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())
  private let bell = DispatchSemaphore(value: 0)
  private let processID = csystem_process_id()

  var phase: Phase { state.withLock { $0.phase } }

  var isAbandoned: Bool { phase == .abandoned }

  /// Whether the calling thread is the telemetry's thread.
  var isOwnThread: Bool { state.withLock { $0.thread } == csystem_thread_id() }

  /// Whether this process was forked from the process that started the telemetry. The telemetry's
  /// thread does not exist in such a process.
  var isForked: Bool { csystem_process_id() != processID }

  /// Stores the id of the calling thread. The telemetry's thread calls this method when it starts.
  func didStart() { state.withLock { $0.thread = csystem_thread_id() } }

  /// Wakes the telemetry's thread.
  func ring() { bell.signal() }

  /// Waits for a call of `ring()`.
  ///
  /// - Parameter limit: The longest time to wait; `nil` for no limit.
  /// - Returns: Whether `ring()` was called.
  func wait(atMost limit: Duration?) -> Bool {
    let deadline = limit.map {
      DispatchTime.now() + .nanoseconds(Int(clamping: $0.saturatedNanoseconds))
    }
    return bell.wait(timeout: deadline ?? .distantFuture) == .success
  }

  /// Ends the telemetry's thread after it has reported all activity up to now. If the thread is
  /// already ending, the call has no effect.
  func stop() { move(from: [.running], to: .stopping) }

  /// Ends the telemetry's thread without reporting further activity. If the thread has already
  /// ended, the call has no effect.
  func abandon() { move(from: [.running, .stopping], to: .abandoned) }

  private func move(from phases: [Phase], to phase: Phase) {
    let isNew = state.withLock { state in
      guard phases.contains(state.phase) else { return false }
      state.phase = phase
      return true
    }
    if isNew { ring() }
  }

  /// Records that the telemetry's thread has ended.
  func didStop() {
    let waiters = state.withLock { state in
      state.phase = .stopped
      state.thread = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter() }
  }

  /// Calls `body` when the telemetry's thread ends. If the thread has already ended, calls `body`
  /// at once.
  func whenStopped(_ body: @escaping @Sendable () -> Void) {
    let isStopped = state.withLock { state in
      if state.phase == .stopped { return true }
      state.waiters.append(body)
      return false
    }
    if isStopped { body() }
  }
}
