// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The messages that a session has for its viewer, and the interest that the viewer has told the session.
///
/// A value: each kind of session keeps it under a lock of its own, and wakes the viewer outside of that.
package struct Mailbox: Sendable {
  /// What the viewer wants to be told of.
  package var interest: Interest
  /// The messages that wait, the oldest first.
  package private(set) var messages: [MonitorMessage]
  /// How many updates are among them.
  package private(set) var updateCount: Int
  /// Whether the session was ended.
  package private(set) var isInvalid = false

  /// The viewer was woken and has not taken its messages since.
  private var isWoken = false

  /// Creates a mailbox.
  ///
  /// - Parameters:
  ///   - interest: What the viewer wants to be told of.
  ///   - messages: The messages that it gets without being woken.
  package init(interest: Interest = Interest(), messages: [MonitorMessage] = []) {
    self.interest = interest
    self.messages = messages
    updateCount = messages.count(where: \.isUpdate)
  }

  /// Adds a message, unless the session was ended.
  ///
  /// - Returns: Whether the viewer must be woken.
  package mutating func post(_ message: MonitorMessage) -> Bool {
    guard !isInvalid else { return false }
    messages.append(message)
    if message.isUpdate { updateCount += 1 }
    defer { isWoken = true }
    return !isWoken
  }

  /// Takes the messages, the oldest first; the updates among them stay if they are not wanted.
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
  /// - Returns: Whether it was not ended before.
  package mutating func invalidate() -> Bool {
    defer { isInvalid = true }
    return !isInvalid
  }
}

extension MonitorMessage {
  /// Whether it tells what has changed.
  package var isUpdate: Bool { if case .update = self { true } else { false } }
}
