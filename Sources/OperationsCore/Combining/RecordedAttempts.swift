// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The attempts of a `RetryOperation`. Attempts are not added to a queue, so a queue does not count
/// them.
package struct RecordedAttempts: Sendable, Equatable {
  /// One attempt. Times are nanoseconds on the monotonic clock.
  package struct Attempt: Sendable, Equatable {
    /// Identifies the operation of the attempt.
    package let id: OperationID
    /// The number of the attempt; the first one is 1.
    package let number: Int
    /// The name of the class of the attempt's operation.
    package let className: String
    /// The name of the attempt's operation.
    package var name: String?
    /// The kind that was set for the attempt's operation; `nil` if its kind is the name of its class.
    package var kind: String?
    /// When the attempt was started.
    package let started: Int64
    /// When the attempt finished; `nil` while it executes.
    package var finished: Int64?
    /// Whether the attempt has finished with an error and was not cancelled.
    package var hasFailed = false
    /// Whether the attempt was cancelled.
    package var isCancelled = false
  }

  /// The maximum number of attempts.
  package let maximum: Int
  /// The number of the last attempt that was started; 0 before the first one.
  package var number = 0
  /// The attempts that were started while a collector recorded, the oldest first: at most the last
  /// ``limit``.
  package var attempts: [Attempt] = []
  /// The time at which the pause before the next attempt ends; `nil` if there is no pause. If the
  /// retry has a clock of its own, this is an estimate.
  package var pauseEnd: Int64?

  /// The maximum number of attempts that are kept.
  package static let limit = 16
}

/// The attempts of one `RetryOperation`, and what viewers see of them.
final class AttemptLog: Sendable {
  private struct State {
    var recorded: RecordedAttempts
    /// The operation of the executing attempt.
    var current: Operation?
    var started: Int64 = 0
    /// The error of the last failed attempt, while the retry executes.
    var lastError: (any Error)?
  }

  private let state: Locked<State>

  /// Creates a log without attempts.
  ///
  /// - Parameter maximum: The maximum number of attempts.
  init(maximum: Int) { state = Locked(State(recorded: RecordedAttempts(maximum: maximum))) }

  /// Runs one attempt.
  func run<Output>(
    _ number: Int, _ operation: ResultOperation<Output>, for performer: Performer
  ) async throws -> Output {
    state.withLock { state in
      state.recorded.number = number
      state.recorded.pauseEnd = nil
      state.started = csystem_monotonic_nanoseconds()
      state.current = operation
    }
    performer.operation?.noteDescriptionChanged()
    let outcome: Result<Output, any Error>
    do {
      outcome = .success(try await operation.perform(for: performer))
    } catch {
      outcome = .failure(error)
    }
    end(operation, outcome)
    performer.operation?.noteDescriptionChanged()
    return try outcome.get()
  }

  /// Notes that the retry pauses before its next attempt.
  func pause(_ pause: Duration, for performer: Performer) {
    let end = csystem_monotonic_nanoseconds().addingReportingOverflow(
      Int64(pause / .nanoseconds(1)))
    state.withLock { $0.recorded.pauseEnd = end.overflow ? nil : end.partialValue }
    performer.operation?.noteDescriptionChanged()
  }

  /// Notes that no attempt follows, and releases the last error.
  func close() {
    let error = state.withLock { state in
      state.recorded.pauseEnd = nil
      return state.lastError.take()
    }
    withExtendedLifetime(error) {}
  }

  /// The attempts so far, with the executing one, and the error of the last failed attempt while the
  /// retry executes.
  var contents: (recorded: RecordedAttempts, lastError: (any Error)?) {
    let (recorded, lastError, current, started) = state.withLock {
      ($0.recorded, $0.lastError, $0.current, $0.started)
    }
    guard let current else { return (recorded, lastError) }
    return (recorded.with(attempt(current, recorded.number, started)), lastError)
  }

  private func end<Output>(_ operation: Operation, _ outcome: Result<Output, any Error>) {
    let (number, started) = state.withLock { ($0.recorded.number, $0.started) }
    let isCancelled = operation.status.load(ordering: .acquiring).isCancelled
    // An id is assigned only for a viewer.
    var attempt = MonitorLevel.isOn ? attempt(operation, number, started) : nil
    attempt?.finished = csystem_monotonic_nanoseconds()
    attempt?.isCancelled = isCancelled
    var error: (any Error)?
    if case .failure(let failure) = outcome {
      error = failure
      attempt?.hasFailed = !isCancelled
    }
    // The earlier error and the operation are released outside the lock.
    let released = state.withLock { state in
      let released = (state.lastError, state.current)
      state.current = nil
      state.lastError = error
      if let attempt { state.recorded = state.recorded.with(attempt) }
      return released
    }
    withExtendedLifetime(released) {}
  }

  private func attempt(
    _ operation: Operation, _ number: Int, _ started: Int64
  ) -> RecordedAttempts.Attempt {
    RecordedAttempts.Attempt(
      id: operation.id, number: number, className: String(describing: type(of: operation)),
      name: operation.givenName, kind: operation.givenKind, started: started)
  }
}

extension RecordedAttempts {
  /// Returns a copy with one more attempt.
  fileprivate func with(_ attempt: Attempt) -> RecordedAttempts {
    var copy = self
    copy.attempts.append(attempt)
    if copy.attempts.count > Self.limit { copy.attempts.removeFirst() }
    return copy
  }
}
