// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An operation that cancels its work after a time limit.
///
/// ```swift
/// let fetch = TimeoutOperation(after: .seconds(10)) {
///   AsyncOperation { try await download(address) }
/// }
/// ```
///
/// The time begins when this operation starts: its wait in a queue does not count. The work runs in
/// the slot of this operation. If the time ends before the work, the work is cancelled with an
/// ``OperationTimeoutError``, which is the result of this operation.
///
/// Cancelling is only a request. Work that ignores it continues, and this operation, its slot and
/// its waiters wait until it ends. The result is the error in this case too, whatever the work
/// returns. No work continues after this operation has finished.
///
/// Cancelling this operation cancels the work and stops the clock.
public final class TimeoutOperation<Output: Sendable>: AsyncOperation<Output>, @unchecked Sendable {
  /// Creates an operation that limits the time of another one.
  ///
  /// - Parameters:
  ///   - limit: The time for the work. A negative limit counts as zero: the work is cancelled as
  ///     soon as it starts. More than 100 years counts as 100 years.
  ///   - clock: Measures the time.
  ///   - makeOperation: Creates the operation that does the work, when this operation starts. The
  ///     created operation must be ready and not in a queue. It is started directly, so its own
  ///     exclusions have no effect: set them on this operation.
  public init(
    after limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    makeOperation: @escaping @Sendable () -> ResultOperation<Output>
  ) {
    let performer = Performer()
    // Only the closure of the operation captures the parameters of the initializer, so that they
    // are released after the closure has run.
    super.init {
      let operation = makeOperation()
      let deadline = Deadline()
      let expire: @Sendable () async -> Void = {
        let pause = max(.zero, min(limit, .longest))
        do { try await clock.sleep(for: pause) } catch { return }
        guard deadline.settle(isMet: false) else { return }
        let id = performer.operation?.id
        CancellationScope.cancel(operation, because: id.map { .timeout($0) } ?? .timeLimit) {
          operation.cancel(with: OperationTimeoutError(limit: limit))
        }
      }
      // The child task that waits for the time limit runs on a thread of Swift's runtime. So it is on
      // time even if operations use all threads of the queue.
      let outcome = await withTaskGroup { group -> Result<Output, any Error> in
        group.addTask(executorPreference: globalConcurrentExecutor) { await expire() }
        defer { group.cancelAll() }
        let outcome: Result<Output, any Error>
        do {
          outcome = .success(try await operation.perform(for: performer))
        } catch {
          outcome = .failure(error)
        }
        let isInTime = deadline.settle(isMet: true)
        return isInTime ? outcome : .failure(OperationTimeoutError(limit: limit))
      }
      return try outcome.get()
    }
    performer.set(self)
  }
}

extension Duration {
  /// The maximum duration of a sleep: 100 years. A clock overflows if it sleeps for several hundred
  /// years.
  static let longest = Duration.seconds(100 * 365 * 86_400)
}

/// Decides whether the work or the time limit ended first.
private final class Deadline: Sendable {
  private let isMet = Locked<Bool?>(nil)

  /// Stores whether the work ended before the time limit, unless this is already known.
  ///
  /// - Returns: Whether this call has stored the value.
  func settle(isMet: Bool) -> Bool {
    self.isMet.withLock { known in
      if known != nil { return false }
      known = isMet
      return true
    }
  }
}

/// An error that means that the work of a ``TimeoutOperation`` has taken too long.
public struct OperationTimeoutError: Error, Hashable, CustomStringConvertible {
  /// The time limit that the work has exceeded.
  public let limit: Duration

  /// Creates an error for a time limit.
  public init(limit: Duration) { self.limit = limit }

  /// The error as one sentence, for people.
  public var description: String { "The operation has not finished within \(limit)." }
}
