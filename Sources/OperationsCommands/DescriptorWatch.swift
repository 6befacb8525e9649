// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore

/// Waits until a file descriptor is readable. No thread is blocked.
final class DescriptorWatch: Sendable {
  private struct State {
    var hasEnded = false
    var source: (any DispatchSourceRead)?
  }

  private let descriptor: Int32
  private let state = Locked(State())

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Whether `end()` was called.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Waits until the descriptor is readable or `end()` is called. Only one task may wait at a time. When the method
  /// returns, the system no longer watches the descriptor, so it can be closed.
  func wait() async {
    await withCheckedContinuation { continuation in
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
      source.setEventHandler { source.cancel() }
      source.setCancelHandler { continuation.resume() }
      let hasEnded = state.withLock { state in
        state.source = source
        return state.hasEnded
      }
      source.activate()
      if hasEnded { source.cancel() }
    }
    _ = state.withLock { $0.source.take() }
  }

  /// Ends the current wait and all later ones.
  func end() {
    let source = state.withLock { state in
      state.hasEnded = true
      return state.source
    }
    source?.cancel()
  }
}
