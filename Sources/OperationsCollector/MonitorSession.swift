// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import MonitorProtocol
import OperationsCore
import Synchronization

/// A session of one viewer with the queues of this process: it receives messages and sends
/// commands.
///
/// The collector serves all sessions on its own thread, which exists only while there is a session,
/// and sleeps while nothing changes. A viewer that does not receive its messages costs no memory:
/// later changes are merged into the next update.
package final class MonitorSession: Sendable {
  private struct State {
    var mailbox: Mailbox
    /// The time since when further changes wait for the last update to be received; `nil` if there
    /// are none.
    var behindSince: MonitorTime?
    var minimumInterval: Duration
    /// Whether the collector has not seen the interest yet.
    var isInterestNew = true

    /// Whether an update is in the mailbox. In that case, no further update is made.
    var holdsUpdate: Bool { mailbox.updateCount > 0 }
  }

  let id = SessionID.next()
  let isReadOnly: Bool
  /// The sender of the commands; `nil` if it is this process itself.
  let origin: CommandOrigin?
  /// Called on the collector's thread with the result of each command, even if the viewer has
  /// disconnected. Must not block.
  let audit: @Sendable (CommandResult) -> Void
  private let wake: @Sendable () -> Void
  private let state: Locked<State>

  /// Opens a session. The first messages, a greeting and the complete state, follow at once.
  ///
  /// - Parameters:
  ///   - minimumInterval: The shortest time between two updates.
  ///   - interest: The data that the viewer requests; by default the first 500 operations.
  ///   - isReadOnly: Whether commands are refused.
  ///   - wake: Called on the collector's thread when messages are available, once until they are
  ///     received. Must not block.
  package convenience init(
    minimumInterval: Duration, interest: Interest = Interest(), isReadOnly: Bool,
    wake: @escaping @Sendable () -> Void
  ) {
    self.init(
      minimumInterval: minimumInterval, interest: interest, isReadOnly: isReadOnly, origin: nil,
      audit: { _ in }, wake: wake)
  }

  /// Opens a session for a viewer in another process.
  package init(
    minimumInterval: Duration, interest: Interest, isReadOnly: Bool, origin: CommandOrigin?,
    audit: @escaping @Sendable (CommandResult) -> Void, wake: @escaping @Sendable () -> Void
  ) {
    self.isReadOnly = isReadOnly
    self.origin = origin
    self.audit = audit
    self.wake = wake
    let hello = ProcessFacts.hello(isReadOnly: isReadOnly)
    state = Locked(
      State(
        mailbox: Mailbox(interest: interest, messages: [.hello(hello)]),
        minimumInterval: minimumInterval))
    Collector.shared.attach(self)
  }

  deinit { invalidate() }

  /// Removes and returns the messages, the oldest first. Can be called on any thread, and does not
  /// block.
  package func takeMessages() -> [MonitorMessage] { takeMessages(withUpdate: true) }

  /// Removes and returns the messages, or all messages except updates. While an update stays, no
  /// further one is made.
  package func takeMessages(withUpdate: Bool) -> [MonitorMessage] {
    let (messages, isBehind) = state.withLock { state in
      let messages = state.mailbox.takeMessages(withUpdates: withUpdate)
      return (messages, !state.holdsUpdate && state.behindSince != nil)
    }
    if isBehind { Collector.shared.ring(.changes) }
    return messages
  }

  /// Sets what the viewer wants to receive. Does not block. An update follows.
  package func watch(_ interest: Interest) { watch(interest, minimumInterval: nil) }

  /// Sets what the viewer wants to receive, and the shortest time between two updates; `nil` keeps
  /// the interval.
  package func watch(_ interest: Interest, minimumInterval: Duration?) {
    state.withLock { state in
      state.mailbox.interest = interest
      state.isInterestNew = true
      state.minimumInterval = minimumInterval ?? state.minimumInterval
    }
    Collector.shared.ring(.sessions)
  }

  /// Sends a command. Does not block. A `commandResult` message follows.
  package func send(_ command: MonitorCommand) { Collector.shared.perform(command, for: self) }

  /// Ends the session. No further messages come. Further calls have no effect.
  package func invalidate() {
    if state.withLock({ $0.mailbox.invalidate() }) { Collector.shared.detach(id) }
  }

  // MARK: For the collector

  /// Returns the viewer's interest if it has changed since the last call; otherwise `nil`.
  func takeNewInterest() -> Interest? {
    state.withLock { state in
      defer { state.isInterestNew = false }
      return state.isInterestNew ? state.mailbox.interest : nil
    }
  }

  /// The shortest time between two updates.
  var minimumInterval: Duration { state.withLock { $0.minimumInterval } }

  /// Returns whether an update would be delivered. If not, the viewer wakes the collector after it
  /// has received the last one.
  func takesUpdate(at now: MonitorTime) -> Bool {
    state.withLock { state in
      if state.holdsUpdate { state.behindSince = state.behindSince ?? now }
      return !state.holdsUpdate
    }
  }

  /// Delivers an update. Only the collector's thread does this, so updates stay in order.
  func deliver(_ update: Update) {
    let mustWake = state.withLock { state in
      var update = update
      update.behind = state.behindSince.map { update.time - $0 } ?? .zero
      state.behindSince = nil
      return state.mailbox.post(.update(update))
    }
    if mustWake { wake() }
  }

  /// Delivers the result of a command.
  func deliver(_ result: CommandResult) {
    if state.withLock({ $0.mailbox.post(.commandResult(result)) }) { wake() }
  }
}

/// Identifies a session. Unlike an object's address, an id is never used again.
struct SessionID: Hashable {
  let rawValue: UInt64
  private static let last = Atomic<UInt64>(0)

  /// Returns a new id.
  static func next() -> SessionID {
    SessionID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}
