// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a monitor to its viewer.
///
/// The messages have the same form from the process itself, from a socket and from a recording.
public enum MonitorMessage: Sendable, Equatable {
  /// The first message, which names the watched process.
  case hello(Hello)
  /// The changes since the previous update.
  case update(Update)
  /// The result of a command.
  case commandResult(CommandResult)
  /// The process has not answered a check for this duration; zero when it answers again.
  case silent(for: Duration)
  /// The connection was lost for this reason, and the viewer reconnects. After it succeeds, a
  /// greeting and the complete state follow.
  case disconnected(reason: String)
  /// No further messages will come, for this reason. The last known state remains valid.
  case ended(reason: String)
}
