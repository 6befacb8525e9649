// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An operation that tries until it succeeds, so many times at most.
///
/// An operation runs once; so each attempt is a new one, which a closure makes:
///
/// ```swift
/// let fetch = RetryOperation(maximumAttempts: 5, delay: { .seconds(1 << $0) }) { _ in
///   AsyncOperation { try await download(address) }
/// }
/// queue.addOperation(fetch)
/// let page = try await fetch.value
/// ```
///
/// The attempts run one after the other in the slot that this operation holds: a queue of width 1 is
/// enough. Between two of them it goes on executing. Its result is that of the attempt that succeeded, or
/// of the last one.
///
/// Cancelling it cancels the attempt that is under way, or ends the pause; then there is no other attempt.
public final class RetryOperation<Output: Sendable>: AsyncOperation<Output>, @unchecked Sendable {
  /// Creates an operation that tries several times.
  ///
  /// - Parameters:
  ///   - maximumAttempts: How often to try, the first time included. Less than 1 counts as 1.
  ///   - delay: How long to wait after an attempt that has failed, given its number; the first one is
  ///     number 1. Not asked after the last one. By default there is no pause, and less than no time is
  ///     none either. More than 100 years counts as 100 years.
  ///   - clock: What measures the pauses.
  ///   - shouldRetry: Whether to try again after this error; by default after every one but
  ///     `CancellationError`, which says that somebody has cancelled the attempt.
  ///   - makeOperation: Makes the operation of an attempt, given its number. It must be a new one each
  ///     time, be ready, and be in no queue. As it is started by hand, exclusions of its own have no
  ///     effect: set them on this operation.
  public init(
    maximumAttempts: Int,
    delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero },
    clock: any Clock<Duration> = ContinuousClock(),
    shouldRetry: @escaping @Sendable (any Error) -> Bool = { !($0 is CancellationError) },
    makeOperation: @escaping @Sendable (_ attempt: Int) -> AsyncOperation<Output>
  ) {
    let performer = Performer()
    // All in the closure, so that what these capture is released when it has run.
    super.init {
      for attempt in 1..<max(1, maximumAttempts) {
        do {
          return try await makeOperation(attempt).perform(for: performer)
        } catch {
          if error is Misuse || Task.isCancelled || !shouldRetry(error) { throw error }
        }
        let pause = delay(attempt)
        if pause > .zero { try await clock.sleep(for: min(pause, .longest)) }
        try Task.checkCancellation()
      }
      return try await makeOperation(max(1, maximumAttempts)).perform(for: performer)
    }
    performer.set(self)
  }
}
