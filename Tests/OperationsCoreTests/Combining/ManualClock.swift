// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// A clock that a test advances.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset = Duration.zero

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant()
    var nextNumber = 0
    var sleepers: [Int: Sleeper] = [:]
    var cancelledEarly: Set<Int> = []
    /// The requested durations of the sleeps, in the order of their beginnings.
    var sleeps: [Duration] = []
  }

  private let state = Monitored(State())

  var now: Instant { state.value.now }
  var minimumResolution: Duration { .nanoseconds(1) }

  /// The requested durations of all sleeps so far.
  var sleeps: [Duration] { state.value.sleeps }

  /// The number of sleeps that have begun and not ended.
  var sleeperCount: Int { state.value.sleepers.count }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.change { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { begin(number, until: deadline, $0) }
    } onCancel: {
      cancel(number)
    }
  }

  /// Advances the time, and ends the sleeps whose time has come.
  func advance(by duration: Duration) {
    let woken = state.change { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Blocks the calling thread until a number of sleeps have begun. Sleeps that have already ended
  /// count too.
  func waitForSleeps(_ count: Int, at location: SourceLocation = #_sourceLocation) {
    state.wait(for: "\(count) sleeps", at: location) { $0.sleeps.count >= count }
  }

  private func begin(
    _ number: Int, until deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    let result = state.change { state -> Result<Void, any Error>? in
      state.sleeps.append(state.now.duration(to: deadline))
      if state.cancelledEarly.remove(number) != nil { return .failure(CancellationError()) }
      if deadline <= state.now { return .success(()) }
      state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
      return nil
    }
    if let result { continuation.resume(with: result) }
  }

  private func cancel(_ number: Int) {
    let sleeper = state.change { state -> Sleeper? in
      if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper }
      state.cancelledEarly.insert(number)
      return nil
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }
}
