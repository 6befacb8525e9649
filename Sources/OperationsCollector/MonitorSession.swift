// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import MonitorProtocol
import OperationsCore
import Synchronization

/// The connection of one viewer to the queues of this process. Through the session, the viewer
/// receives messages and sends commands.
///
/// The collector serves all sessions on its own thread. The thread exists only while a session
/// exists, and sleeps while nothing changes. If a viewer does not receive its messages, no further
/// messages are stored, because later changes are merged into the next update.
package final class MonitorSession: LocalMonitorSource {
  /// The progress of the last update of a session. No update follows the last update.
  private enum LastUpdate {
    case notRequested
    case requested
    /// The mailbox contains the last update.
    case delivered
    /// The viewer has received the last update.
    case received
  }

  private struct State {
    var mailbox: Mailbox
    /// The time of the first change that was not sent because the viewer had not received the last
    /// update; `nil` if no change waits.
    var behindSince: MonitorTime?
    var minimumInterval: Duration
    /// Whether the viewer has changed the data that it requests, and the collector has not read the
    /// new request yet.
    var isInterestNew = true
    var lastUpdate = LastUpdate.notRequested

    /// Whether the mailbox contains an update. If it does, the collector makes no further update.
    var holdsUpdate: Bool { mailbox.updateCount > 0 }
  }

  let id = SessionID.next()
  let isReadOnly: Bool
  /// The viewer that sends the commands of this session; `nil` if code of this process sends them.
  let origin: CommandOrigin?
  let keepsFinishedOperations: Bool
  /// A closure that the collector's thread calls with the result of each command, even if the
  /// viewer has disconnected. The closure must not block.
  let audit: @Sendable (CommandResult) -> Void
  private let wake: @Sendable () -> Void
  private let state: Locked<State>

  /// Opens a session. The greeting and the complete state follow at once as the first messages.
  ///
  /// - Parameters:
  ///   - minimumInterval: The shortest time between two updates.
  ///   - interest: The data that the viewer requests. By default, it requests the first 500
  ///     operations.
  ///   - isReadOnly: Whether the session refuses commands.
  ///   - origin: The viewer that sends the commands; `nil` if code of this process sends them.
  ///   - keepsFinishedOperations: Whether the process keeps the last 10,000 finished operations, and in addition the
  ///     last 10,000 older ones that have failed or were cancelled, while the session exists. All sessions can report
  ///     them. Otherwise, the process keeps the last 10,000 operations for a minute after they have finished.
  ///   - audit: A closure that the collector's thread calls with the result of each command. The closure must not block.
  ///   - wake: A closure that the collector's thread calls when messages are available. The thread
  ///     calls it again only after the viewer has received the messages. The closure must not
  ///     block.
  package init(
    minimumInterval: Duration, interest: Interest = Interest(), isReadOnly: Bool,
    origin: CommandOrigin? = nil, keepsFinishedOperations: Bool = false,
    audit: @escaping @Sendable (CommandResult) -> Void = { _ in },
    wake: @escaping @Sendable () -> Void
  ) {
    self.isReadOnly = isReadOnly
    self.keepsFinishedOperations = keepsFinishedOperations
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

  /// Removes and returns the messages, the oldest first. The method can be called on any thread and
  /// does not block.
  package func takeMessages() -> [MonitorMessage] { takeMessages(withUpdate: true) }

  /// Removes and returns the messages, the oldest first. If `withUpdate` is `false`, an update
  /// stays in the mailbox, and the collector makes no further update until it is removed.
  package func takeMessages(withUpdate: Bool) -> [MonitorMessage] {
    let (messages, isBehind, mustMakeLast) = state.withLock { state in
      let messages = state.mailbox.takeMessages(withUpdates: withUpdate)
      if state.lastUpdate == .delivered, !state.holdsUpdate { state.lastUpdate = .received }
      let mustMakeLast = state.lastUpdate == .requested && !state.holdsUpdate
      return (messages, !state.holdsUpdate && state.behindSince != nil, mustMakeLast)
    }
    if mustMakeLast {
      Collector.shared.ring(.sessions)
    } else if isBehind {
      Collector.shared.ring(.changes)
    }
    return messages
  }

  /// Requests the last update. It contains all changes up to this call, and no update follows it.
  /// The method does not block. The session makes the last update when the viewer has received the
  /// previous one.
  package func requestLastUpdate() {
    state.withLock { state in
      if state.lastUpdate == .notRequested { state.lastUpdate = .requested }
    }
    Collector.shared.ring(.sessions)
  }

  /// Whether the viewer has received the last update.
  package var hasGivenLastUpdate: Bool { state.withLock { $0.lastUpdate == .received } }

  /// Whether the calling thread is the collector's thread, which makes the updates. This thread
  /// must not wait for an update.
  package static var isOnCollectorThread: Bool { Collector.shared.isOnThread }

  /// Sets the viewer's interest, which is the data that the viewer requests. The method does not
  /// block. An update follows.
  package func watch(_ interest: Interest) { watch(interest, minimumInterval: nil) }

  /// Sets the viewer's interest and the shortest time between two updates. If `minimumInterval` is
  /// `nil`, the shortest time stays the same.
  package func watch(_ interest: Interest, minimumInterval: Duration?) {
    state.withLock { state in
      state.mailbox.interest = interest
      state.isInterestNew = true
      state.minimumInterval = minimumInterval ?? state.minimumInterval
    }
    Collector.shared.ring(.sessions)
  }

  /// Sends a command. The method does not block. A `commandResult` message follows.
  package func send(_ command: MonitorCommand) { Collector.shared.perform(command, for: self) }

  /// Ends the session. The session then delivers no further messages. A second call has no effect.
  package func invalidate() {
    if state.withLock({ $0.mailbox.invalidate() }) { Collector.shared.detach(id) }
  }

  // MARK: For the collector

  /// Returns the viewer's interest, which is the data that the viewer requests, if it has changed
  /// since the last call; otherwise `nil`.
  func takeNewInterest() -> Interest? {
    state.withLock { state in
      defer { state.isInterestNew = false }
      return state.isInterestNew ? state.mailbox.interest : nil
    }
  }

  /// The shortest time between two updates of the session.
  var minimumInterval: Duration { state.withLock { $0.minimumInterval } }

  /// Whether the collector must make the last update of this session now.
  var needsLastUpdate: Bool {
    state.withLock { $0.lastUpdate == .requested && !$0.holdsUpdate }
  }

  /// Returns whether the session accepts an update now. If it does not, the session wakes the
  /// collector when the viewer has received the previous update.
  func takesUpdate(at now: MonitorTime) -> Bool {
    state.withLock { state in
      guard state.lastUpdate == .notRequested else { return false }
      if state.holdsUpdate { state.behindSince = state.behindSince ?? now }
      return !state.holdsUpdate
    }
  }

  /// Delivers an update to the viewer. Only the collector's thread delivers updates, so they stay
  /// in order.
  func deliver(_ update: Update, isLast: Bool = false) {
    let mustWake = state.withLock { state in
      var update = update
      if isLast {
        state.lastUpdate = .delivered
        update.unstartedCompletionBlockCount = OperationQueue.unstartedCompletionBlockCount
      }
      update.behind = state.behindSince.map { update.time - $0 } ?? .zero
      state.behindSince = nil
      return state.mailbox.post(.update(update))
    }
    if mustWake { wake() }
  }

  /// Delivers the result of a command to the viewer.
  func deliver(_ result: CommandResult) {
    if state.withLock({ $0.mailbox.post(.commandResult(result)) }) { wake() }
  }
}

/// The id of a session. Unlike the address of an object, an id is never used again.
struct SessionID: Hashable {
  let rawValue: UInt64
  private static let last = Atomic<UInt64>(0)

  /// Returns a session id that was never used before.
  static func next() -> SessionID {
    SessionID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}
