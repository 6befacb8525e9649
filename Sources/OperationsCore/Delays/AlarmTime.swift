// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The identity of a clock: two equal identities belong to the same clock. Two identities of one clock may
/// differ if the clock is a value with padding.
struct ClockIdentity: Hashable, Sendable {
  private let type: ObjectIdentifier
  /// The bytes of the value. For a class, they are the address of the object.
  private let bytes: [UInt8]

  init(_ clock: any Clock<Duration>) { self = Self.identity(of: clock) }

  private init<C: Clock>(of clock: C) {
    type = ObjectIdentifier(C.self)
    bytes = withUnsafeBytes(of: clock) { Array($0) }
  }

  private static func identity<C: Clock>(of clock: C) -> ClockIdentity { ClockIdentity(of: clock) }

  /// Whether all clocks of the type are the same clock, such as the clocks of the standard library.
  var isOnlyOne: Bool { bytes.isEmpty }
}

/// A clock whose times are durations since the moment at which this object was created, its origin.
///
/// The methods call the clock, which may be the user's, so they are not called under a lock.
final class AlarmTime: Sendable {
  let clock: any Clock<Duration>
  private let read: @Sendable () -> Duration
  private let sleepUntil: @Sendable (Duration) async throws -> Void

  init<C: Clock>(_ clock: C) where C.Duration == Duration {
    self.clock = clock
    let origin = clock.now
    read = { origin.duration(to: clock.now) }
    sleepUntil = {
      try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil)
    }
  }

  /// The time since the origin.
  var now: Duration { read() }

  /// The longest sleep on a clock of the standard library. Swift's runtime keeps some memory for a cancelled
  /// sleep until the time at which it would have ended.
  private static let longestSleep = Duration.seconds(60)

  /// Suspends the calling task until a time, or until the task is cancelled.
  func sleep(until time: Duration) async {
    guard ClockIdentity(clock).isOnlyOne else {
      try? await sleepUntil(time)
      return
    }
    while !Task.isCancelled {
      let present = now
      if present >= time { return }
      try? await sleepUntil(min(time, present + Self.longestSleep))
    }
  }
}

/// A moment on a clock.
struct AlarmMoment: Sendable {
  let time: AlarmTime
  let offset: Duration

  init(_ offset: Duration, on time: AlarmTime) {
    self.time = time
    self.offset = offset
  }

  /// The time until this moment; zero if it has passed.
  var timeLeft: Duration { max(.zero, offset - time.now) }

  /// The moment on the monotonic clock in nanoseconds; `nil` if the clock is not one of the standard library. The
  /// time of another clock, such as a clock that a test moves, need not pass like real time.
  ///
  /// The continuous clock goes on while the machine sleeps, and the monotonic clock does not. So the value is too
  /// late by the time for which the machine sleeps before the moment.
  var monotonicNanoseconds: Int64? {
    guard time.clock is ContinuousClock || time.clock is SuspendingClock else { return nil }
    // A delay is at most 100 years, and 64 bits are enough for 292 years.
    return csystem_monotonic_nanoseconds() + Int64(timeLeft / .nanoseconds(1))
  }

  /// Returns the same moment as the duration since another origin of the same clock.
  func moved(to other: AlarmTime) -> AlarmMoment {
    let timeLeft = offset - time.now
    return AlarmMoment(other.now + timeLeft, on: other)
  }
}
