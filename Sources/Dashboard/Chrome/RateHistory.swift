// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How many operations have finished in each second.
///
/// Made of exact totals, so that nothing is missed between two of them: what a total has grown by
/// counts for the second in which it was heard of.
struct RateHistory: Sendable, Equatable {
  /// No more seconds are kept.
  static let capacity = 240
  /// A rate below this is a mean over several seconds.
  private static let smallRate = 10
  private static let meanSeconds = 5
  private static let second: Int64 = 1_000_000_000

  /// What finished in each complete second, the oldest first; none before the first total.
  private(set) var samples: [Int] = []
  /// What is added to a moment's nanoseconds so that full seconds are multiples of a billion.
  private var phase: Int64 = 0
  /// The number of the second that goes on; `nil` before the first total.
  private var current: Int64?
  private var currentCount = 0
  private var total = 0

  /// Lets seconds begin where those of the time of day do.
  mutating func alignSeconds(to hello: Hello) {
    let fraction = hello.anchorSecondsSince1970.truncatingRemainder(dividingBy: 1)
    phase = Int64(fraction * Double(Self.second)) - hello.anchor.nanoseconds % Self.second
  }

  /// Takes in how many operations have ever finished.
  mutating func note(total: Int, at time: MonitorTime) {
    guard current != nil else {
      current = number(of: time)
      self.total = total
      return
    }
    advance(to: time)
    // It is less where a queue is gone, which says nothing about the others.
    currentCount += max(0, total - self.total)
    self.total = total
  }

  /// Completes the seconds that are over at `time`.
  mutating func advance(to time: MonitorTime) {
    guard let current else { return }
    let number = number(of: time)
    guard number > current else { return }
    samples.append(currentCount)
    currentCount = 0
    let silent = min(number - current - 1, Int64(Self.capacity))
    samples += repeatElement(0, count: Int(silent))
    if samples.count > Self.capacity { samples.removeFirst(samples.count - Self.capacity) }
    self.current = number
  }

  /// How many finish in a second: in the last complete one, or in the mean of the last ones where
  /// those are few; `nil` before the first complete second.
  var rate: Double? {
    guard let last = samples.last else { return nil }
    guard last < Self.smallRate else { return Double(last) }
    let few = samples.suffix(Self.meanSeconds)
    return Double(few.reduce(0, +)) / Double(few.count)
  }

  /// Whether any of the last `count` seconds, or the one that goes on, saw something finish.
  func isMoving(within count: Int) -> Bool {
    currentCount > 0 || samples.suffix(count).contains { $0 > 0 }
  }

  private func number(of time: MonitorTime) -> Int64 {
    let shifted = time.nanoseconds &+ phase
    return shifted / Self.second - (shifted % Self.second < 0 ? 1 : 0)
  }
}
