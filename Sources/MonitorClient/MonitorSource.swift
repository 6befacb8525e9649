// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// A source of messages about a process: this process itself, or a socket.
package protocol MonitorSource: AnyObject, Sendable {
  /// Removes and returns the messages, the oldest first. Can be called on any thread, and does not
  /// block.
  func takeMessages() -> [MonitorMessage]
  /// Sets what the viewer wants to receive. Does not block. An update follows.
  func watch(_ interest: Interest)
  /// Sends a command. Does not block. A `commandResult` message follows.
  func send(_ command: MonitorCommand)
  /// Ends the session. No further messages come. Further calls have no effect.
  func invalidate()
}
