// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The result of a command, for which one task waits. If two results are set, the first one counts.
final class CommandOutcome: Sendable {
  typealias Value = Result<CommandResult, any Error>

  private struct State {
    var value: Value?
    var continuation: CheckedContinuation<Value, Never>?
  }

  private let state = Locked(State())

  /// Sets the result. A second call does nothing.
  func settle(_ value: Value) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
      if state.value != nil { return nil }
      state.value = value
      return state.continuation.take()
    }
    continuation?.resume(returning: value)
  }

  /// Waits for the result. The cancellation of the task does not end the wait. Called once.
  func value() async -> Value {
    await withCheckedContinuation { continuation in
      let value = state.withLock { state -> Value? in
        if state.value == nil { state.continuation = continuation }
        return state.value
      }
      if let value { continuation.resume(returning: value) }
    }
  }
}
