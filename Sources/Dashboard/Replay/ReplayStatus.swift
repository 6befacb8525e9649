// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The position and the speed of a replay.
public struct ReplayStatus: Sendable, Equatable {
  /// The shown moment, on the clock of the recorded process.
  public var time: MonitorTime
  /// The time from the first update to the shown moment.
  public var position: Duration
  /// The length of the recording.
  public var length: Duration
  /// The speed as a power of two: the number of doublings, or of halvings if negative.
  public var speed: Int
  /// Whether the replay is running; otherwise it is paused.
  public var isPlaying: Bool
  /// A note on the recording itself, as a sentence; `nil` if there is none.
  public var remark: String?

  /// Creates the status of a recording that is paused at its beginning.
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

  /// The position and the speed for the header: `00:41/01:42 4x`, `00:41/01:42 PAUSED`.
  var words: String {
    let place = "\(Self.clock(position))/\(Self.clock(length))"
    return "\(place) \(isPlaying ? speedWords : "PAUSED")"
  }

  /// The speed alone: `4x`, `1/2x`.
  var speedWords: String {
    let factor = 1 << min(62, speed.magnitude)
    return speed < 0 ? "1/\(factor)x" : "\(factor)x"
  }

  /// Returns minutes and seconds, after hours if there are any.
  private static func clock(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = "\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
    return seconds < 3_600 ? minutes : "\(seconds / 3_600):\(minutes)"
  }
}

/// A command for the replay.
public enum ReplayCommand: Sendable, Equatable {
  /// Pauses or continues the replay. At the end it begins again.
  case togglePlaying
  /// Doubles the speed this number of times, or halves it if the number is negative.
  case changeSpeed(by: Int)
  /// Pauses the replay this number of updates later, or earlier if the number is negative.
  case step(Int)
  /// Moves forward by this time, or back if it is negative.
  case seek(by: Duration)
  /// Goes to the beginning.
  case seekToStart
  /// Goes to the end.
  case seekToEnd
  /// Pauses the replay at the next new warning.
  case nextWarning
  /// Pauses the replay at the previous new warning.
  case previousWarning
}
