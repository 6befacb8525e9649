// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import OperationsCore
import Synchronization

/// A clock that a test moves. Its time stands still until the test advances it.
///
/// ```swift
/// let clock = TestClock()
/// queue.addOperation(delay: .seconds(60), clock: clock) { refresh() }
/// clock.advance(by: .seconds(60))
/// ```
///
/// Pass it to `RetryOperation`, `TimeoutOperation`, `OperationStartLimit` and the methods with a delay,
/// and to other code that takes a `Clock`. A sleep whose time has already come ends at once, so the order of
/// "sleep" and "advance" does not matter if the deadline is known before.
///
/// Every member can be used on any thread.
public final class TestClock: Clock, Sendable {
  /// A moment on the clock.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the creation of the clock.
    public var offset: Duration

    /// Creates a moment.
    ///
    /// - Parameter offset: The time since the creation of the clock.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the moment that is a duration later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the time until another moment, which is negative if that moment is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether the first moment is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }

    /// The time since the creation of the clock, as text.
    public var description: String { "\(offset)" }
  }

  private struct Sleeper {
    let deadline: Instant
    let number: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Waiter {
    let number: Int
    let isDone: @Sendable (_ sleeperCount: Int) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = Instant()
    var lastNumber = 0
    var sleepers: [Sleeper] = []
    var waiters: [Waiter] = []
    /// The numbers of the sleeps and waits that have not begun and were not cancelled.
    var early: Set<Int> = []

    /// Returns the number of a new sleep or wait.
    mutating func makeNumber() -> Int {
      lastNumber += 1
      early.insert(lastNumber)
      return lastNumber
    }

    /// Removes and returns the waits that have ended.
    mutating func takeDoneWaiters() -> [CheckedContinuation<Void, Never>] {
      let count = sleepers.count
      let done = waiters.filter { $0.isDone(count) }
      waiters.removeAll { waiter in done.contains { $0.number == waiter.number } }
      return done.map(\.continuation)
    }
  }

  private let state = Locked(State())

  /// Creates a clock at the time zero.
  public init() {}

  /// The present time, which changes only if a test advances it.
  public var now: Instant { state.withLock { $0.now } }

  /// The shortest difference between two times: one nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The deadlines of the sleeps that have begun and not ended, the earliest first.
  public var deadlines: [Instant] { state.withLock { $0.sleepers.map(\.deadline) }.sorted() }

  // MARK: Sleeping

  /// Suspends the calling task until the test has advanced the clock to a deadline.
  ///
  /// - Parameters:
  ///   - deadline: The moment at which the sleep ends. If it has passed, the method returns at once.
  ///   - tolerance: Has no effect.
  /// - Throws: `CancellationError` if the task is cancelled first.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let number = state.withLock { $0.makeNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { begin(number, until: deadline, $0) }
    } onCancel: {
      cancel(number)
    }
  }

  private func begin(
    _ number: Int, until deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    let (result, waiters) = state.withLock {
      state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
      if state.early.remove(number) == nil { return (.failure(CancellationError()), []) }
      if deadline <= state.now { return (.success(()), []) }
      state.sleepers.append(
        Sleeper(deadline: deadline, number: number, continuation: continuation))
      return (nil, state.takeDoneWaiters())
    }
    if let result { continuation.resume(with: result) }
    for waiter in waiters { waiter.resume() }
  }

  private func cancel(_ number: Int) {
    let (sleeper, waiter) = state.withLock { state -> (Sleeper?, Waiter?) in
      if let index = state.sleepers.firstIndex(where: { $0.number == number }) {
        return (state.sleepers.remove(at: index), nil)
      }
      if let index = state.waiters.firstIndex(where: { $0.number == number }) {
        return (nil, state.waiters.remove(at: index))
      }
      state.early.remove(number)
      return (nil, nil)
    }
    sleeper?.continuation.resume(throwing: CancellationError())
    waiter?.continuation.resume()
  }

  // MARK: Advancing

  /// Advances the time, and ends the sleeps whose deadlines have come, in the order of their deadlines, then of
  /// their beginnings.
  ///
  /// The time moves from deadline to deadline. So a task that reads ``now`` before the next sleep ends can see
  /// its own deadline. The tasks continue on their own threads after the call.
  ///
  /// - Parameter duration: The duration; a negative duration counts as zero.
  public func advance(by duration: Duration) {
    let end = now.advanced(by: max(.zero, duration))
    while endNextSleep(by: end) {}
  }

  /// Advances the time to the earliest deadline, and ends the sleeps with this deadline.
  ///
  /// - Returns: `false` if no task sleeps on the clock. In this case the time does not change.
  @discardableResult
  public func advanceToNextDeadline() -> Bool {
    guard let next = deadlines.first else { return false }
    while endNextSleep(by: next) {}
    return true
  }

  /// Advances the time from deadline to deadline until an operation has finished, for example an operation with
  /// several delayed attempts. Waits for the sleeps between.
  ///
  /// The operation must be executing, or something else must start it. The time moves as soon as a task sleeps
  /// on the clock, although other tasks run. So do not use this method if a sleep is a time limit, as in a
  /// `TimeoutOperation`: call ``advance(by:)`` there.
  ///
  /// - Parameter operation: The operation.
  public func run(untilFinished operation: Operation) async {
    let end = FinishFlag()
    await withTaskGroup { group in
      group.addTask { [self] in
        await operation.waitUntilFinished()
        end.set()
        notifyWaiters()
      }
      while !end.isSet, !Task.isCancelled {
        await wait { sleeperCount in sleeperCount > 0 || end.isSet }
        if !end.isSet { advanceToNextDeadline() }
      }
      group.cancelAll()
    }
  }

  /// Ends the earliest sleep with a deadline up to `end`. If there is none, advances the time to `end`.
  ///
  /// Both happen in one step. Otherwise, a sleep that begins between them would never end.
  ///
  /// - Returns: Whether a sleep has ended.
  private func endNextSleep(by end: Instant) -> Bool {
    let sleeper = state.withLock { state -> Sleeper? in
      let indices = state.sleepers.indices.filter { state.sleepers[$0].deadline <= end }
      let next = indices.min { left, right in
        let (first, second) = (state.sleepers[left], state.sleepers[right])
        return (first.deadline, first.number) < (second.deadline, second.number)
      }
      guard let next else {
        state.now = max(state.now, end)
        return nil
      }
      let sleeper = state.sleepers.remove(at: next)
      state.now = max(state.now, sleeper.deadline)
      return sleeper
    }
    sleeper?.continuation.resume()
    return sleeper != nil
  }

  // MARK: Waiting for sleeps

  /// Waits until at least a number of tasks sleep on this clock at the same time.
  ///
  /// A test calls this method before it advances the clock, if a task computes its deadline just before its
  /// sleep. Returns early if the calling task is cancelled.
  ///
  /// - Parameter count: The number of sleeping tasks.
  public func waitForSleepers(_ count: Int = 1) async { await wait { $0 >= count } }

  private func wait(until isDone: @escaping @Sendable (_ sleeperCount: Int) -> Bool) async {
    let number = state.withLock { $0.makeNumber() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.early.remove(number) == nil || isDone(state.sleepers.count) { return true }
          state.waiters.append(Waiter(number: number, isDone: isDone, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      cancel(number)
    }
  }

  private func notifyWaiters() {
    for waiter in state.withLock({ $0.takeDoneWaiters() }) { waiter.resume() }
  }
}

/// Whether an operation has finished. The clock reads it inside its lock, so it has no lock of its own.
private final class FinishFlag: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}
