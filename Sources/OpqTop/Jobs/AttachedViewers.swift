// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorProtocol
import OperationsMonitor
import Synchronization

/// The viewers that are attached to a runner without a terminal. The runner awaits them at its end, so that they show
/// the last state. All members can be used on any thread.
final class AttachedViewers: Sendable {
  /// The time in which the first viewer can attach.
  static let patience = Duration.seconds(10)

  private struct State {
    var count = 0
    /// Whether a viewer was attached at some time.
    var hadViewer = false
  }

  private let state = Mutex(State())
  private let deadline: MonitorTime

  /// Creates a value without viewers.
  ///
  /// - Parameter now: The time from which the first viewer is awaited.
  init(now: MonitorTime) { deadline = now + Self.patience }

  /// Begins to count the viewers of this process, until the process ends.
  ///
  /// - Parameter waker: The waker that rings when the number has changed.
  convenience init(waker: Waker) {
    self.init(now: .now)
    Task.detached { [self] in
      for await count in OperationMonitor.controllerCounts() {
        note(count)
        waker.ring()
      }
    }
  }

  /// Notes the number of viewers.
  func note(_ count: Int) {
    state.withLock { state in
      state.count = count
      if count > 0 { state.hadViewer = true }
    }
  }

  /// Returns whether the runner must not end: a viewer is attached, or the first one can still attach.
  func mustBeAwaited(at now: MonitorTime) -> Bool {
    state.withLock { $0.count > 0 || !$0.hadViewer && now < deadline }
  }

  /// Returns the time at which the first viewer can no longer attach; `nil` if there was a viewer, or if this time has
  /// come.
  func nextChange(after now: MonitorTime) -> MonitorTime? {
    state.withLock { $0.hadViewer || deadline <= now ? nil : deadline }
  }
}
