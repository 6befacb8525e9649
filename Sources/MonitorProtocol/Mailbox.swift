// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The messages of a session for its viewer, and the interest that the viewer has set.
///
/// A mailbox is a value without a lock. Each kind of session keeps its mailbox under the session's
/// own lock, and wakes the viewer outside that lock.
package struct Mailbox: Sendable {
  /// The data that the viewer requests.
  package var interest: Interest
  /// The messages that the viewer has not received, the oldest first.
  package private(set) var messages: [MonitorMessage]
  /// The number of updates among the messages.
  package private(set) var updateCount: Int
  /// Whether the session has ended.
  package private(set) var isInvalid = false

  /// Whether the session has woken the viewer, and the viewer has not received its messages since.
  private var isWoken = false

  /// Creates a mailbox.
  ///
  /// - Parameters:
  ///   - interest: The data that the viewer requests.
  ///   - messages: The first messages. The session does not wake the viewer for them.
  package init(interest: Interest = Interest(), messages: [MonitorMessage] = []) {
    self.interest = interest
    self.messages = messages
    updateCount = messages.count(where: \.isUpdate)
  }

  /// Adds a message for the viewer. If the session has ended, the message is discarded.
  ///
  /// - Returns: Whether the session must wake the viewer.
  package mutating func post(_ message: MonitorMessage) -> Bool {
    guard !isInvalid else { return false }
    messages.append(message)
    if message.isUpdate { updateCount += 1 }
    defer { isWoken = true }
    return !isWoken
  }

  /// Removes and returns the messages, the oldest first. If `withUpdates` is `false`, the updates
  /// stay in the mailbox.
  package mutating func takeMessages(withUpdates: Bool = true) -> [MonitorMessage] {
    isWoken = false
    let all = messages
    guard !withUpdates, updateCount > 0 else {
      messages = []
      updateCount = 0
      return all
    }
    messages = all.filter(\.isUpdate)
    return all.filter { !$0.isUpdate }
  }

  /// Ends the session, and discards the messages that the viewer has not received.
  ///
  /// - Returns: `true` if this call has ended the session; `false` if the session had already
  ///   ended.
  package mutating func invalidate() -> Bool {
    defer { isInvalid = true }
    (messages, updateCount) = ([], 0)
    return !isInvalid
  }
}

extension MonitorMessage {
  /// Whether the message is an update.
  package var isUpdate: Bool { if case .update = self { true } else { false } }
}
