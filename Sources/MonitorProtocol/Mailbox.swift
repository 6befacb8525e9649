// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The messages of a session for its viewer, and the interest that the viewer has set.
///
/// This is a value. Each kind of session keeps it under its own lock and wakes the viewer outside
/// that lock.
package struct Mailbox: Sendable {
  /// The data that the viewer requests.
  package var interest: Interest
  /// The messages that the viewer has not received, the oldest first.
  package private(set) var messages: [MonitorMessage]
  /// The number of updates among the messages.
  package private(set) var updateCount: Int
  /// Whether the session has ended.
  package private(set) var isInvalid = false

  /// Whether the viewer was woken and has not received its messages since.
  private var isWoken = false

  /// Creates a mailbox.
  ///
  /// - Parameters:
  ///   - interest: The data that the viewer requests.
  ///   - messages: The messages that the viewer receives without being woken.
  package init(interest: Interest = Interest(), messages: [MonitorMessage] = []) {
    self.interest = interest
    self.messages = messages
    updateCount = messages.count(where: \.isUpdate)
  }

  /// Adds a message, unless the session has ended.
  ///
  /// - Returns: Whether the viewer must be woken.
  package mutating func post(_ message: MonitorMessage) -> Bool {
    guard !isInvalid else { return false }
    messages.append(message)
    if message.isUpdate { updateCount += 1 }
    defer { isWoken = true }
    return !isWoken
  }

  /// Removes and returns the messages, the oldest first. Without `withUpdates`, the updates stay.
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

  /// Ends the session.
  ///
  /// - Returns: Whether the session had not ended before.
  package mutating func invalidate() -> Bool {
    defer { isInvalid = true }
    return !isInvalid
  }
}

extension MonitorMessage {
  /// Whether it is an update.
  package var isUpdate: Bool { if case .update = self { true } else { false } }
}
