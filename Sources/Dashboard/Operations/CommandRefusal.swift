// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Why the monitored process takes no commands.
enum CommandRefusal: Sendable, Equatable {
  /// It has said so, or the viewer was told to give none.
  case readOnly
  /// The connection is lost, and is being made anew.
  case disconnected
  /// What ran in this process is over, or nothing more comes from several that were watched as one.
  case ended
  /// The other process has exited.
  case exited
  /// It is a recording.
  case recording

  /// Why, in a word or two for a list of keys.
  var words: String {
    switch self {
    case .readOnly: "read-only"
    case .disconnected: "reconnecting"
    case .ended: "it has ended"
    case .exited: "it has exited"
    case .recording: "a recording"
    }
  }

  /// Why, in a sentence for who tries.
  var sentence: String {
    switch self {
    case .readOnly: "read-only: nothing is changed from here"
    case .disconnected: "the connection is lost: nothing can be changed until it is back"
    case .ended: "the process has ended"
    case .exited: "the process has exited: nothing can be changed"
    case .recording: "this is a recording: nothing can be changed"
    }
  }
}
