// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import MonitorTransport
import OperationsCore

/// The viewer that has started this process. Before its first operation, the process waits for this viewer, so that
/// the viewer misses no operation. All members can be used on any thread.
final class AwaitedViewer: Sendable {
  /// The maximum time for which the process waits.
  static let patience = DispatchTimeInterval.seconds(2)
  /// The time after which the process checks again whether the viewer still exists.
  private static let checkInterval = DispatchTimeInterval.milliseconds(100)

  private struct State {
    /// The number of the viewer's connections that do not receive changes yet.
    var pendingCount = 0
    /// Whether the viewer has connected, and each of its connections has received changes or has ended.
    var isReady = false
  }

  private let viewer: LaunchingViewer
  private let state = Locked(State())
  private let signal = DispatchSemaphore(value: 0)

  /// Creates the state before the viewer has connected.
  init(_ viewer: LaunchingViewer) { self.viewer = viewer }

  /// Records that a viewer has connected. A viewer that shows and records a process has two connections.
  func noteConnection(_ origin: CommandOrigin) {
    guard origin.processID == viewer.processID else { return }
    state.withLock { $0.pendingCount += 1 }
  }

  /// Records that a connection of a viewer has begun to receive all changes, or has ended without that. When all
  /// connections of the awaited viewer have done so, the process no longer waits. Each connection calls this method
  /// once after ``noteConnection(_:)``.
  func noteAnswer(_ origin: CommandOrigin) {
    guard origin.processID == viewer.processID else { return }
    let isNew = state.withLock { state in
      state.pendingCount -= 1
      guard state.pendingCount == 0, !state.isReady else { return false }
      state.isReady = true
      return true
    }
    if isNew { signal.signal() }
  }

  /// Whether the process no longer waits for the viewer.
  var isReady: Bool { state.withLock { $0.isReady } }

  /// Waits until the viewer receives all changes, has disconnected or has ended, but for two seconds at most. If the
  /// viewer does not exist, the method does not wait. At most one thread may call the method at a time.
  func wait() {
    let deadline = DispatchTime.now() + Self.patience
    while viewer.isAlive, !isReady, .now() < deadline {
      _ = signal.wait(timeout: min(deadline, .now() + Self.checkInterval))
    }
  }
}
