// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The maximum number of frames per second if only updates from the monitor change the screen. The user
/// increases or decreases the rate in steps.
struct RefreshRate: Sendable, Equatable {
  private struct Step {
    let interval: Duration
    let words: String
  }

  /// The refresh rates that the user can choose. The first rate is the fastest and the default.
  private static let steps = [
    Step(interval: .nanoseconds(33_333_333), words: "30/s"),
    Step(interval: .milliseconds(100), words: "10/s"),
    Step(interval: .milliseconds(250), words: "4/s"),
    Step(interval: .milliseconds(500), words: "2/s"),
    Step(interval: .seconds(1), words: "1/s"),
    Step(interval: .seconds(2), words: "every 2s"),
    Step(interval: .seconds(5), words: "every 5s"),
    Step(interval: .seconds(10), words: "every 10s"),
  ]

  private var index = 0

  /// The minimum time between two frames if only updates from the monitor have changed the screen.
  var interval: Duration { Self.steps[index].interval }

  /// The rate in words, such as `4/s` or `every 5s`.
  var words: String { Self.steps[index].words }

  /// Whether the rate is the default.
  var isDefault: Bool { index == 0 }

  /// Decreases the rate by this number of steps, or increases it if the number is negative. If no such rate
  /// exists, returns `false` and changes nothing.
  mutating func slowDown(by count: Int) -> Bool {
    guard Self.steps.indices.contains(index + count) else { return false }
    index += count
    return true
  }
}
