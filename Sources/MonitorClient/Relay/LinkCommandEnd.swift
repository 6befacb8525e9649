// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when a link kills its command, and when it reports the end of the command. The link reports the end when the
/// standard output, the standard error and the process have ended, or when the grace periods have passed. This type
/// uses neither a process nor a clock.
struct LinkCommandEnd: Equatable {
  /// An action that the link must carry out.
  enum Action: Equatable {
    /// The link must call ``LinkCommandEnd/expire(_:)`` with this number after this time. Earlier numbers are invalid.
    case wait(number: Int, Duration)
    /// The link must kill the command.
    case kill
    /// The link must report the end of the command.
    case report
  }

  /// The grace period after the standard output or the process has ended, or after the command was asked to end. The
  /// same period follows after the command is killed.
  static let grace = Duration.seconds(1)
  /// The grace period of a command that was abandoned. During this time, the command can send its last bytes.
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

  /// Handles the request to end the command after the shorter grace period.
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
