// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when the end of a link's command is complete: its standard output and standard error have ended, and its
/// exit status is known. This type uses neither a process nor a clock.
struct LinkCommandEnd: Equatable {
  /// An action that the link must carry out.
  enum Action: Equatable {
    /// The link must call ``LinkCommandEnd/expire(_:)`` with this number after this time. Earlier numbers are invalid.
    case wait(number: Int, Duration)
    /// The link must kill the command.
    case kill
    /// The end is complete.
    case report
  }

  /// The time for the command to end after the first sign of its end, and again after it was killed.
  static let grace = Duration.seconds(1)
  /// The time for the command to end after it was abandoned. It can send its last bytes.
  static let shortGrace = Duration.milliseconds(300)

  /// Whether the command's standard output has ended.
  private(set) var hasOutputEnded = false
  private var haveErrorsEnded = false
  /// Whether the command's process has ended.
  private(set) var hasExited = false
  private var isWaiting = false
  private var lastWait = 0
  private var isKilled = false
  private var isReported = false

  /// Handles the end of the standard output.
  mutating func endOutput() -> [Action] {
    hasOutputEnded = true
    return look()
  }

  /// Handles the end of the standard error.
  mutating func endErrors() -> [Action] {
    haveErrorsEnded = true
    return look()
  }

  /// Handles the end of the process.
  mutating func exit() -> [Action] {
    hasExited = true
    return look()
  }

  /// Handles the request to end the command.
  mutating func stop() -> [Action] { beginToWait() }

  /// Handles the request to end the command because nothing else is expected of it.
  mutating func abandon() -> [Action] {
    guard !isReported, !isKilled else { return [] }
    isWaiting = true
    return [wait(Self.shortGrace)]
  }

  /// Handles the end of a grace period.
  mutating func expire(_ wait: Int) -> [Action] {
    guard !isReported, wait == lastWait else { return [] }
    if isKilled || hasExited {
      isReported = true
      return [.report]
    }
    isKilled = true
    return [.kill, self.wait(Self.grace)]
  }

  private mutating func look() -> [Action] {
    guard !isReported else { return [] }
    if hasOutputEnded, haveErrorsEnded, hasExited {
      isReported = true
      return [.report]
    }
    return hasOutputEnded || hasExited ? beginToWait() : []
  }

  private mutating func beginToWait() -> [Action] {
    guard !isWaiting, !isReported else { return [] }
    isWaiting = true
    return [wait(Self.grace)]
  }

  private mutating func wait(_ grace: Duration) -> Action {
    lastWait += 1
    return .wait(number: lastWait, grace)
  }
}
