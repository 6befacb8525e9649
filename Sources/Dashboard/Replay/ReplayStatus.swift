// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The position and the speed of a replay.
public struct ReplayStatus: Sendable, Equatable {
  /// The moment that the replay shows, on the clock of the recorded process.
  public var time: MonitorTime
  /// The time from the first update to the shown moment.
  public var position: Duration
  /// The length of the recording.
  public var length: Duration
  /// The speed as a number of doublings of the normal speed. A negative number is a number of halvings.
  public var speed: Int
  /// Whether the replay is running. If not, the replay is paused.
  public var isPlaying: Bool
  /// A sentence about a fault of the recording or about its end; `nil` if there is neither a fault nor an
  /// end.
  public var remark: String?
  /// The last command that was not carried out; `nil` if all commands were carried out.
  public var failure: ReplayFailure?
  /// The moments of warnings and failures.
  public var marks: ReplayMarks

  /// Creates the status of a recording that is paused at its beginning.
  public init(
    time: MonitorTime, position: Duration = .zero, length: Duration, speed: Int = 0,
    isPlaying: Bool = false, remark: String? = nil, failure: ReplayFailure? = nil,
    marks: ReplayMarks = ReplayMarks()
  ) {
    self.time = time
    self.position = position
    self.length = length
    self.speed = speed
    self.isPlaying = isPlaying
    self.remark = remark
    self.failure = failure
    self.marks = marks
  }

  /// The position and the speed in the header, such as `00:41/01:42 4x` or `00:41/01:42 PAUSED`.
  var words: String {
    let place = "\(Self.clock(position))/\(Self.clock(length))"
    return "\(place) \(isPlaying ? speedWords : "PAUSED")"
  }

  /// The speed as a text, such as `4x` or `1/2x`.
  var speedWords: String {
    let factor = 1 << min(62, speed.magnitude)
    return speed < 0 ? "1/\(factor)x" : "\(factor)x"
  }

  /// Returns a duration as minutes and seconds. If the duration is at least an hour, the text also has hours.
  static func clock(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = "\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
    return seconds < 3_600 ? minutes : "\(seconds / 3_600):\(minutes)"
  }
}

/// The moments of a recording at which a warning appears or an operation fails.
public struct ReplayMarks: Sendable, Equatable {
  /// The times from the first update to the updates with a new warning, sorted.
  public var warnings: [Duration]
  /// The times from the first update to the updates with a new failure, sorted.
  public var failures: [Duration]

  /// Creates marks. By default, there are none.
  public init(warnings: [Duration] = [], failures: [Duration] = []) {
    self.warnings = warnings
    self.failures = failures
  }
}

/// A command for the replay that was not carried out.
public struct ReplayFailure: Sendable, Equatable {
  /// The number of commands so far that were not carried out. It differs for each failure, so the viewer shows
  /// the same sentence again after the next failure.
  public var number: Int
  /// The reason as a sentence.
  public var sentence: String

  /// Creates a failure.
  public init(number: Int, sentence: String) {
    self.number = number
    self.sentence = sentence
  }
}

/// A command for the replay.
public enum ReplayCommand: Sendable, Equatable {
  /// Pauses or continues the replay. If the replay is at its end, it begins again.
  case togglePlaying
  /// Doubles the speed of the replay this number of times, or halves it if the number is negative.
  case changeSpeed(by: Int)
  /// Moves the replay by this number of updates, and pauses it. A negative number moves it back.
  case step(Int)
  /// Moves the replay forward by this duration, or back if the duration is negative.
  case seek(by: Duration)
  /// Moves the replay to the moment that is this duration after the first update.
  case go(to: Duration)
  /// Moves the replay to its beginning.
  case seekToStart
  /// Moves the replay to its end.
  case seekToEnd
  /// Moves the replay to the next moment at which a new warning appears, and pauses it there. If there is no such
  /// moment, the command has no effect except for a ``ReplayStatus/failure``.
  case nextWarning
  /// Moves the replay to the previous moment at which a new warning appears, and pauses it there. If there is no
  /// such moment, the command has no effect except for a ``ReplayStatus/failure``.
  case previousWarning
}
