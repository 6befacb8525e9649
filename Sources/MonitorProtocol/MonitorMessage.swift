// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A message from a monitor to its viewer.
///
/// The messages have the same form if they come from the viewer's own process, from a socket or
/// from a recording.
public enum MonitorMessage: Sendable, Equatable {
  /// The first message, which names the watched process.
  case hello(Hello)
  /// The changes since the previous update.
  case update(Update)
  /// The result of a command.
  case commandResult(CommandResult)
  /// The process has not answered for this duration. The duration is zero when the process answers
  /// again.
  case silent(for: Duration)
  /// The connection was lost for this reason, and the viewer tries to reconnect. When it has
  /// reconnected, a greeting and the complete state follow.
  case disconnected(reason: String)
  /// The monitor sends no further messages, for this reason. The last known state remains valid.
  case ended(reason: String)
}
