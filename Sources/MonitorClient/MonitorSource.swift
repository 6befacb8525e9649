// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// Where messages about a process come from: this process itself, or a socket.
package protocol MonitorSource: AnyObject, Sendable {
  /// Takes the waiting messages, oldest first. Any thread; returns at once.
  func takeMessages() -> [MonitorMessage]
  /// Says what the viewer wants to be told of from now on. Returns at once; an update follows.
  func watch(_ interest: Interest)
  /// Gives a command. Returns at once; a `commandResult` message follows.
  func send(_ command: MonitorCommand)
  /// Ends it: nothing more comes. Twice is harmless.
  func invalidate()
}
