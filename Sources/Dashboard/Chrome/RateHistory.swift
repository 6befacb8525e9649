// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The number of operations that finished in each of the last seconds.
///
/// The numbers are computed from exact totals, so no operation is missed between two totals. The increase of
/// a total is counted in the second in which the new total arrives.
struct RateHistory: Sendable, Equatable {
  /// The maximum number of past seconds for which the number of finished operations is kept.
  static let capacity = 240
  /// If fewer operations than this finish per second, the shown rate is an average over several seconds.
  private static let smallRate = 10
  /// The number of seconds over which a small rate is averaged.
  static let meanSeconds = 5
  private static let second: Int64 = 1_000_000_000

  /// The number of operations that finished in each complete second, the oldest second first; empty before
  /// the first total arrives.
  private(set) var samples: [Int] = []
  /// The number of nanoseconds that is added to a time on the monitor's clock. The sum is a multiple of
  /// 1,000,000,000 at each full second of the time of day.
  private var phase: Int64 = 0
  /// The sequence number of the current second; `nil` before the first total arrives.
  private var current: Int64?
  private var currentCount = 0
  private var total = 0
  /// Whether totals may be missing before the next one.
  private var isInterrupted = false
  /// Whether the first second is left out if the history begins within it. The number of operations that finished in the
  /// observed part of the second is too small.
  private let omitsPartialSecond: Bool
  /// Whether the current second is left out.
  private var isPartial = false

  /// Creates a history without a total.
  init(omitsPartialSecond: Bool = false) { self.omitsPartialSecond = omitsPartialSecond }

  /// Makes each second of the history begin at a full second of the time of day.
  mutating func alignSeconds(to hello: Hello) {
    let fraction = hello.anchorSecondsSince1970.truncatingRemainder(dividingBy: 1)
    phase = Int64(fraction * Double(Self.second)) - hello.anchor.nanoseconds % Self.second
  }

  /// Counts the operations that have finished since the previous total arrived. If totals were missing before this one,
  /// the history begins again, because the seconds of these operations are unknown.
  mutating func note(total: Int, at time: MonitorTime) {
    guard current != nil, !isInterrupted else {
      (samples, currentCount, isInterrupted) = ([], 0, false)
      current = number(of: time)
      isPartial = omitsPartialSecond && part(of: time) > 0
      self.total = total
      return
    }
    advance(to: time)
    // The total decreases when a queue is deallocated. A decrease is not a rate, so it is ignored.
    let increase = max(0, total.subtractingSaturating(self.total))
    currentCount = currentCount.addingSaturating(increase)
    self.total = total
  }

  /// Notes that totals may be missing before the next one.
  mutating func interrupt() { isInterrupted = true }

  /// Completes each second that has ended at `time`, and adds its number of finished operations to the
  /// history.
  mutating func advance(to time: MonitorTime) {
    guard let current else { return }
    let number = number(of: time)
    guard number > current else { return }
    if !isPartial { samples.append(currentCount) }
    (currentCount, isPartial) = (0, false)
    let silent = min(number - current - 1, Int64(Self.capacity))
    samples += repeatElement(0, count: Int(silent))
    if samples.count > Self.capacity { samples.removeFirst(samples.count - Self.capacity) }
    self.current = number
  }

  /// The number of operations that finish per second: the number of the last complete second or, if that
  /// number is small, an average over several seconds. The rate is `nil` before the first complete second.
  var rate: Double? {
    guard let last = samples.last else { return nil }
    guard last < Self.smallRate else { return Double(last) }
    let few = samples.suffix(Self.meanSeconds)
    return few.reduce(0) { $0 + Double($1) } / Double(few.count)
  }

  /// Whether no second is complete yet.
  var isBeginning: Bool { current != nil && samples.isEmpty }

  /// Returns whether an operation has finished in one of the last `count` seconds or in the current second.
  func isMoving(within count: Int) -> Bool {
    currentCount > 0 || samples.suffix(count).contains { $0 > 0 }
  }

  /// Returns the part of a moment's second that has passed, from 0 to 1.
  func part(of time: MonitorTime) -> Double {
    let rest = (time.nanoseconds &+ phase) % Self.second
    return Double(rest < 0 ? rest + Self.second : rest) / Double(Self.second)
  }

  /// Returns the sequence number of the second that contains a moment.
  func number(of time: MonitorTime) -> Int64 {
    let shifted = time.nanoseconds &+ phase
    return shifted / Self.second - (shifted % Self.second < 0 ? 1 : 0)
  }
}
