// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The reason why commands are refused.
enum CommandRefusal: Sendable, Equatable {
  /// The process or the viewer is read-only.
  case readOnly
  /// The connection is lost, and the dashboard tries to restore it.
  case disconnected
  /// The demo in this process has ended, or all watched processes have ended.
  case ended
  /// The watched process has exited.
  case exited
  /// The watched source is a recording.
  case recording

  /// The reason in at most three words, which the help shows beside a disabled key.
  var words: String {
    switch self {
    case .readOnly: "read-only"
    case .disconnected: "reconnecting"
    case .ended: "process ended"
    case .exited: "process exited"
    case .recording: "a recording"
    }
  }

  /// The message that the dashboard shows if the user presses the key of a command that is refused.
  var sentence: String {
    switch self {
    case .readOnly: "read-only: nothing can be changed"
    case .disconnected: "the connection is lost; commands work after it is restored"
    case .ended: "the process has ended"
    case .exited: "the process has exited; commands are disabled"
    case .recording: "a recording cannot be changed"
    }
  }
}
