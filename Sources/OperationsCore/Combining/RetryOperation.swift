// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An operation that retries until it succeeds, up to a maximum number of attempts.
///
/// Because an operation runs only once, each attempt is a new operation, which a closure creates:
///
/// ```swift
/// let fetch = RetryOperation(maximumAttempts: 5, delay: { .seconds(1 << $0) }) { _ in
///   AsyncOperation { try await download(address) }
/// }
/// queue.addOperation(fetch)
/// let page = try await fetch.value
/// ```
///
/// The attempts run one after the other in the slot of this operation: a queue of width 1 is
/// enough. Between two attempts, this operation executes too. Its result is the result of the
/// successful attempt, or of the last attempt if none was successful.
///
/// Cancelling it cancels the current attempt or ends the delay. No further attempt follows.
public final class RetryOperation<Output: Sendable>: AsyncOperation<Output>, @unchecked Sendable {
  private let log: AttemptLog

  /// Creates an operation with several attempts.
  ///
  /// - Parameters:
  ///   - maximumAttempts: The maximum number of attempts, including the first one. Less than 1
  ///     counts as 1.
  ///   - delay: Returns the delay after a failed attempt, given the number of the attempt; the
  ///     first attempt is number 1. Not called after the last attempt. By default there is no
  ///     delay. A negative delay counts as zero, and more than 100 years as 100 years.
  ///   - clock: Measures the delays.
  ///   - shouldRetry: Whether to retry after this error; by default, after every error except
  ///     `CancellationError`, which means that the attempt was cancelled.
  ///   - makeOperation: Creates the operation of an attempt, given the number of the attempt. The
  ///     result must be a new operation each time, and it must be ready and not in a queue. It is
  ///     started directly, so its own exclusions have no effect: set them on this operation.
  public init(
    maximumAttempts: Int,
    delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero },
    clock: any Clock<Duration> = ContinuousClock(),
    shouldRetry: @escaping @Sendable (any Error) -> Bool = { !($0 is CancellationError) },
    makeOperation: @escaping @Sendable (_ attempt: Int) -> ResultOperation<Output>
  ) {
    let performer = Performer()
    let log = AttemptLog(maximum: max(1, maximumAttempts))
    self.log = log
    // Only the closure of the operation captures the parameters of the initializer, so that they
    // are released after the closure has run.
    super.init {
      defer { log.close() }
      for attempt in 1..<max(1, maximumAttempts) {
        do {
          return try await log.run(attempt, makeOperation(attempt), for: performer)
        } catch {
          if error is OperationMisuse || Task.isCancelled || !shouldRetry(error) { throw error }
        }
        let pause = delay(attempt)
        if pause > .zero {
          log.pause(min(pause, .longest), for: performer)
          try await clock.sleep(for: min(pause, .longest))
        }
        try Task.checkCancellation()
      }
      let last = max(1, maximumAttempts)
      return try await log.run(last, makeOperation(last), for: performer)
    }
    performer.set(self)
  }

  override var attemptLog: AttemptLog? { log }
}
