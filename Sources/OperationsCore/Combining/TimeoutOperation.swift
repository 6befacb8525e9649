// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An operation that cancels its work when that takes too long.
///
/// ```swift
/// let fetch = TimeoutOperation(after: .seconds(10)) {
///   AsyncOperation { try await download(address) }
/// }
/// ```
///
/// The time begins when this operation starts: what it waits in a queue does not count. The work runs in
/// the slot that this operation holds. When the time is over before the work is, the work is cancelled
/// with an ``OperationTimeoutError``, and that is the result of this operation.
///
/// Cancelling is a request, here as everywhere: work that ignores it goes on, and this operation, its
/// slot, and whoever waits for it wait until it ends. Its result is the error then too, whatever the
/// work returns in the end. Nothing runs on behind the queue's back.
///
/// Cancelling this operation cancels the work, and stops the clock.
public final class TimeoutOperation<Output: Sendable>: AsyncOperation<Output>, @unchecked Sendable {
  /// Creates an operation that limits the time of another one.
  ///
  /// - Parameters:
  ///   - limit: How long the work may take. Less than no time is none: the work is cancelled as soon as it
  ///     starts. More than 100 years counts as 100 years.
  ///   - clock: What measures the time.
  ///   - makeOperation: Makes the operation that does the work, when this one starts. It must be ready,
  ///     and be in no queue. As it is started by hand, exclusions of its own have no effect: set them on
  ///     this operation.
  public init(
    after limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    makeOperation: @escaping @Sendable () -> AsyncOperation<Output>
  ) {
    let performer = Performer()
    // All in the closure, so that what it captures is released when it has run.
    super.init {
      let operation = makeOperation()
      let deadline = Deadline()
      let expire: @Sendable () async -> Void = {
        let pause = max(.zero, min(limit, .longest))
        do { try await clock.sleep(for: pause) } catch { return }
        guard deadline.settle(isMet: false) else { return }
        operation.cancel(because: OperationTimeoutError(limit: limit))
      }
      // Cancelled, and its end waited for, where this closure ends.
      async let _: Void = expire()
      let outcome: Result<Output, any Error>
      do {
        outcome = .success(try await operation.perform(for: performer))
      } catch {
        outcome = .failure(error)
      }
      guard deadline.settle(isMet: true) else { throw OperationTimeoutError(limit: limit) }
      return try outcome.get()
    }
    performer.set(self)
  }
}

extension Duration {
  /// 100 years. A clock overflows when it is asked to sleep for some hundred years more than that.
  static let longest = Duration.seconds(100 * 365 * 86_400)
}

/// Which came first: the end of the work or the end of the time.
private final class Deadline: Sendable {
  private let isMet = Locked<Bool?>(nil)

  /// - Returns: Whether this came first.
  func settle(isMet: Bool) -> Bool {
    self.isMet.withLock { known in
      if known != nil { return false }
      known = isMet
      return true
    }
  }
}

/// The work of a ``TimeoutOperation`` has taken too long.
public struct OperationTimeoutError: Error, Hashable, CustomStringConvertible {
  /// How long it might have taken.
  public let limit: Duration

  /// An error for that limit.
  public init(limit: Duration) { self.limit = limit }

  /// The reason as one sentence, for people.
  public var description: String { "The operation has not finished within \(limit)." }
}
