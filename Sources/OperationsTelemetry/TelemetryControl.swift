// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import Glibc
import MonitorProtocol
import OperationsCore

/// The state that the telemetry's thread shares with other threads: it wakes the thread, and records when the
/// thread is to end and when it has ended.
final class TelemetryControl: Sendable {
  /// The steps of ending.
  enum Phase: Equatable {
    case running
    /// Everything that has happened still has to be reported.
    case stopping
    /// Activity is no longer reported.
    case abandoned
    case stopped
  }

  private struct State {
    var phase = Phase.running
    /// The telemetry's thread, while it runs.
    var thread: Int32?
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())
  private let bell = DispatchSemaphore(value: 0)
  private let processID = getpid()

  var phase: Phase { state.withLock { $0.phase } }

  var isAbandoned: Bool { phase == .abandoned }

  /// Whether the calling thread is the telemetry's thread.
  var isOwnThread: Bool { state.withLock { $0.thread } == csystem_thread_id() }

  /// Whether this process was forked from the one that started the telemetry. The telemetry's thread does not
  /// exist in it.
  var isForked: Bool { getpid() != processID }

  /// Notes the thread. The telemetry's thread calls this first.
  func didStart() { state.withLock { $0.thread = csystem_thread_id() } }

  /// Wakes the thread.
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

  /// Ends the thread after everything has been reported. A late call is harmless.
  func stop() { move(from: [.running], to: .stopping) }

  /// Ends the thread at once. A late call is harmless.
  func abandon() { move(from: [.running, .stopping], to: .abandoned) }

  private func move(from phases: [Phase], to phase: Phase) {
    let isNew = state.withLock { state in
      guard phases.contains(state.phase) else { return false }
      state.phase = phase
      return true
    }
    if isNew { ring() }
  }

  /// Notes that the thread has ended.
  func didStop() {
    let waiters = state.withLock { state in
      state.phase = .stopped
      state.thread = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter() }
  }

  /// Calls `body` on the telemetry's thread when it ends; at once if it has already ended.
  func whenStopped(_ body: @escaping @Sendable () -> Void) {
    let isStopped = state.withLock { state in
      if state.phase == .stopped { return true }
      state.waiters.append(body)
      return false
    }
    if isStopped { body() }
  }
}
