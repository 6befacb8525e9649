// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a monitor tells its viewer.
///
/// The same values come from the process itself, from a socket and from a recording.
public enum MonitorMessage: Sendable, Equatable {
  /// The first message: who is watched.
  case hello(Hello)
  /// What has changed since the update before it.
  case update(Update)
  /// What became of a command.
  case commandResult(CommandResult)
  /// The process has said nothing for so long, although it was asked whether it is there; zero where it
  /// is heard again.
  case silent(for: Duration)
  /// The connection is lost, for this reason, and is being made anew: where that succeeds, a greeting
  /// and everything that is known follow.
  case disconnected(reason: String)
  /// Nothing more will come, for this reason; what was shown stays true as the last known state.
  case ended(reason: String)
}
