// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A source of messages about a process. The source is this process itself, a socket or a recording.
package protocol MonitorSource: AnyObject, Sendable {
  /// Removes and returns the messages, the oldest first. The method can be called on any thread and
  /// does not block.
  func takeMessages() -> [MonitorMessage]
  /// Sets the viewer's interest, which is the data that the viewer requests. The method does not
  /// block. An update follows.
  func watch(_ interest: Interest)
  /// Sends a command. The method does not block. A `commandResult` message follows.
  func send(_ command: MonitorCommand)
  /// Ends the session. The session then delivers no further messages. A second call has no effect.
  func invalidate()
  /// The error that prevents the session from reconnecting to the process. The process may still run. The value is
  /// `nil` if there is no such error. The session sets it before it delivers its last message, which is `ended`. It can
  /// be read on any thread. The default is `nil`.
  var loss: (any Error)? { get }
}

extension MonitorSource {
  package var loss: (any Error)? { nil }
}

/// A source of messages about this process. It can make a last update.
package protocol LocalMonitorSource: MonitorSource {
  /// Requests the last update, which contains all changes up to this call. No update follows it. The method does
  /// not block.
  func requestLastUpdate()
  /// Whether the viewer has received the last update.
  var hasGivenLastUpdate: Bool { get }
}
