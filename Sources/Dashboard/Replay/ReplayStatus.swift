// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// Where a recording is played, and how.
public struct ReplayStatus: Sendable, Equatable {
  /// The moment that is shown, on the clock of the process that was recorded.
  public var time: MonitorTime
  /// How long after the first update that is.
  public var position: Duration
  /// How long the recording is.
  public var length: Duration
  /// How fast it is played: so many doublings, or halvings where negative.
  public var speed: Int
  /// Whether it is played; else it stands still.
  public var isPlaying: Bool
  /// What there is to know of the recording itself, as a sentence; `nil` for nothing.
  public var remark: String?

  /// Creates a status of a recording that stands still at its beginning.
  public init(
    time: MonitorTime, position: Duration = .zero, length: Duration, speed: Int = 0,
    isPlaying: Bool = false, remark: String? = nil
  ) {
    self.time = time
    self.position = position
    self.length = length
    self.speed = speed
    self.isPlaying = isPlaying
    self.remark = remark
  }

  /// The place and the speed for the header: `00:41/01:42 4x`, `00:41/01:42 PAUSED`.
  var words: String {
    let place = "\(Self.clock(position))/\(Self.clock(length))"
    return "\(place) \(isPlaying ? speedWords : "PAUSED")"
  }

  /// The speed alone: `4x`, `1/2x`.
  var speedWords: String {
    let factor = 1 << min(62, speed.magnitude)
    return speed < 0 ? "1/\(factor)x" : "\(factor)x"
  }

  /// Minutes and seconds, with hours before them where there are any.
  private static func clock(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = "\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
    return seconds < 3_600 ? minutes : "\(seconds / 3_600):\(minutes)"
  }
}

/// What the user wants of a recording that is played.
public enum ReplayCommand: Sendable, Equatable {
  /// Stands still, or goes on; from the end on it begins again.
  case togglePlaying
  /// Plays twice as fast so many times, or half as fast where negative.
  case changeSpeed(by: Int)
  /// Stands still so many updates later, or earlier where negative.
  case step(Int)
  /// Goes so far ahead, or back where negative.
  case seek(by: Duration)
  /// Goes to the beginning.
  case seekToStart
  /// Goes to the end.
  case seekToEnd
  /// Stands still where a warning came up next.
  case nextWarning
  /// Stands still where one came up before.
  case previousWarning
}
