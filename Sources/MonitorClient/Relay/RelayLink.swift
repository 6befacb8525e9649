// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The viewer's end of a link to a relay, which serves all sessions with the processes of one place.
package final class RelayLink: Sendable {
  /// The place of the relay.
  package let place: RemotePlace
  private let arguments: [String]

  /// Creates a link. It starts nothing.
  package init(_ place: RemotePlace, arguments: [String]) {
    self.place = place
    self.arguments = arguments
  }

  /// Starts the command if it does not run.
  package func connect() {}

  /// Calls a closure on some thread with the targets of the first connection, or with the reason why there is none.
  package func whenGreeted(
    _ body: @escaping @Sendable (Result<[RelayedTarget], AttachError>) -> Void
  ) {}

  /// Ends the link. A second call has no effect.
  package func invalidate() {}
}
