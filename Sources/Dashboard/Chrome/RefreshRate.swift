// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The maximum number of frames per second if only updates from the monitor change the screen. The user
/// increases or decreases the rate in steps.
public struct RefreshRate: Sendable, Equatable {
  private struct Step {
    let interval: Duration
    let name: String
  }

  /// The refresh rates that the user can choose. The first rate is the fastest and the default.
  private static let steps = [
    Step(interval: .nanoseconds(33_333_333), name: "30/s"),
    Step(interval: .milliseconds(100), name: "10/s"),
    Step(interval: .milliseconds(250), name: "4/s"),
    Step(interval: .milliseconds(500), name: "2/s"),
    Step(interval: .seconds(1), name: "1/s"),
    Step(interval: .seconds(2), name: "2s"),
    Step(interval: .seconds(5), name: "5s"),
    Step(interval: .seconds(10), name: "10s"),
  ]

  private var index = 0

  /// Creates the default rate, which is 30 frames per second.
  public init() {}

  /// Creates the rate with a name, such as `4/s` for 4 frames per second or `5s` for a frame every 5 seconds. Returns
  /// `nil` if the user cannot choose a rate with this name.
  public init?(name: String) {
    guard let index = Self.steps.firstIndex(where: { $0.name == name }) else { return nil }
    self.index = index
  }

  /// The names of all rates that the user can choose, the fastest rate first.
  public static var names: [String] { steps.map(\.name) }

  /// The name of the rate, such as `4/s` or `5s`.
  public var name: String { Self.steps[index].name }

  /// The minimum time between two frames if only updates from the monitor have changed the screen.
  var interval: Duration { Self.steps[index].interval }

  /// The rate in words, such as `4/s` or `every 5s`.
  var words: String { name.hasSuffix("/s") ? name : "every \(name)" }

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
