// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import Glibc
import MonitorProtocol
import OperationsCore

/// What the thread of a telemetry and everybody else have in common: wakes it, and says when it is to
/// end and when it has.
final class TelemetryControl: Sendable {
  /// How far it is with ending.
  enum Phase: Equatable {
    case running
    /// Everything that has happened is still to be told.
    case stopping
    /// Nothing more is to be told.
    case abandoned
    case stopped
  }

  private struct State {
    var phase = Phase.running
    /// The thread that tells, while it does.
    var thread: Int32?
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())
  private let bell = DispatchSemaphore(value: 0)
  private let processID = getpid()

  var phase: Phase { state.withLock { $0.phase } }

  var isAbandoned: Bool { phase == .abandoned }

  /// Whether this is the thread that tells.
  var isOwnThread: Bool { state.withLock { $0.thread } == csystem_thread_id() }

  /// Whether this process was forked from the one that began: the thread that tells is not here.
  var isForked: Bool { getpid() != processID }

  /// Said by the thread that tells, before anything else.
  func didStart() { state.withLock { $0.thread = csystem_thread_id() } }

  /// Makes the thread look for what there is to do.
  func ring() { bell.signal() }

  /// Waits until somebody rings.
  ///
  /// - Parameter limit: How long at most; `nil` for as long as it takes.
  /// - Returns: Whether somebody has.
  func wait(atMost limit: Duration?) -> Bool {
    let deadline = limit.map {
      DispatchTime.now() + .nanoseconds(Int(clamping: $0.saturatedNanoseconds))
    }
    return bell.wait(timeout: deadline ?? .distantFuture) == .success
  }

  /// Lets it end once everything has been told; late is harmless.
  func stop() { move(from: [.running], to: .stopping) }

  /// Lets it end at once; late is harmless.
  func abandon() { move(from: [.running, .stopping], to: .abandoned) }

  private func move(from phases: [Phase], to phase: Phase) {
    let isNew = state.withLock { state in
      guard phases.contains(state.phase) else { return false }
      state.phase = phase
      return true
    }
    if isNew { ring() }
  }

  /// It has ended.
  func didStop() {
    let waiters = state.withLock { state in
      state.phase = .stopped
      state.thread = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter() }
  }

  /// Calls `body` once it has ended, on its thread; at once where it has already.
  func whenStopped(_ body: @escaping @Sendable () -> Void) {
    let isStopped = state.withLock { state in
      if state.phase == .stopped { return true }
      state.waiters.append(body)
      return false
    }
    if isStopped { body() }
  }
}
