// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
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
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())
  private let bell = DispatchSemaphore(value: 0)

  var phase: Phase { state.withLock { $0.phase } }

  /// Makes the thread look for what there is to do.
  func ring() { bell.signal() }

  /// Waits until somebody rings.
  ///
  /// - Parameter limit: How long at most; `nil` for as long as it takes.
  /// - Returns: Whether somebody has.
  func wait(atMost limit: Duration?) -> Bool {
    let deadline = limit.map { DispatchTime.now() + .nanoseconds(Int(clamping: $0.nanoseconds)) }
    return bell.wait(timeout: deadline ?? .distantFuture) == .success
  }

  /// Lets it end once everything has been told; late is harmless.
  func stop() { move(from: [.running], to: .stopping) }

  /// Lets it end at once; late is harmless.
  func abandon() { move(from: [.running, .stopping], to: .abandoned) }

  private func move(from phases: [Phase], to phase: Phase) {
    state.withLock { if phases.contains($0.phase) { $0.phase = phase } }
    ring()
  }

  /// It has ended.
  func didStop() {
    let waiters = state.withLock { state in
      state.phase = .stopped
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
