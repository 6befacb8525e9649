// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import MonitorProtocol
import OperationsCore
import Synchronization

/// One viewer of this process's own queues: receives messages, gives commands.
///
/// The process's collector works for all sessions on a thread of its own, which exists only while
/// there is a session and sleeps while nothing happens. A viewer that does not take its messages
/// costs no memory: what changes meanwhile is merged into the next update.
package final class MonitorSession: Sendable {
  private struct State {
    var mailbox: Mailbox
    /// Since when there is more to tell, which the last update keeps waiting; `nil` where there is not.
    var behindSince: MonitorTime?
    var minimumInterval: Duration
    /// The collector has not seen the interest.
    var isInterestNew = true

    /// An update waits in the mailbox: the next one is not gathered.
    var holdsUpdate: Bool { mailbox.updateCount > 0 }
  }

  let id = SessionID.next()
  let isReadOnly: Bool
  /// Who commands; `nil` where that is this process itself.
  let origin: CommandOrigin?
  /// Told on the collector's thread what has become of each command, whether or not the viewer is still
  /// there to be told; must not block.
  let audit: @Sendable (CommandResult) -> Void
  private let wake: @Sendable () -> Void
  private let state: Locked<State>

  /// Opens a session; the first messages, a greeting and everything that is known, follow at once.
  ///
  /// - Parameters:
  ///   - minimumInterval: The shortest time between two updates.
  ///   - interest: What the viewer wants to be told of; by default the first 500 operations.
  ///   - isReadOnly: Whether commands are refused.
  ///   - wake: Called on the collector's thread when messages are waiting, once until they are
  ///     taken. Must not block.
  package convenience init(
    minimumInterval: Duration, interest: Interest = Interest(), isReadOnly: Bool,
    wake: @escaping @Sendable () -> Void
  ) {
    self.init(
      minimumInterval: minimumInterval, interest: interest, isReadOnly: isReadOnly, origin: nil,
      audit: { _ in }, wake: wake)
  }

  /// The same for a viewer in another process.
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

  /// Takes the waiting messages, oldest first. Any thread; returns at once.
  package func takeMessages() -> [MonitorMessage] { takeMessages(withUpdate: true) }

  /// The same, or what is no update alone: an update that stays is followed by none.
  package func takeMessages(withUpdate: Bool) -> [MonitorMessage] {
    let (messages, isBehind) = state.withLock { state in
      let messages = state.mailbox.takeMessages(withUpdates: withUpdate)
      return (messages, !state.holdsUpdate && state.behindSince != nil)
    }
    if isBehind { Collector.shared.ring(.changes) }
    return messages
  }

  /// Says what the viewer wants to be told of from now on. Returns at once; an update follows.
  package func watch(_ interest: Interest) { watch(interest, minimumInterval: nil) }

  /// The same, and how often at most; `nil` for as often as before.
  package func watch(_ interest: Interest, minimumInterval: Duration?) {
    state.withLock { state in
      state.mailbox.interest = interest
      state.isInterestNew = true
      state.minimumInterval = minimumInterval ?? state.minimumInterval
    }
    Collector.shared.ring(.sessions)
  }

  /// Gives a command. Returns at once; a `commandResult` message follows.
  package func send(_ command: MonitorCommand) { Collector.shared.perform(command, for: self) }

  /// Ends the session: nothing more is delivered. Twice is harmless.
  package func invalidate() {
    if state.withLock({ $0.mailbox.invalidate() }) { Collector.shared.detach(id) }
  }

  // MARK: For the collector

  /// What the viewer wants to be told of; `nil` where that is what it was at the last call.
  func takeNewInterest() -> Interest? {
    state.withLock { state in
      defer { state.isInterestNew = false }
      return state.isInterestNew ? state.mailbox.interest : nil
    }
  }

  /// The shortest time between two updates.
  var minimumInterval: Duration { state.withLock { $0.minimumInterval } }

  /// Whether an update would be delivered; where not, the viewer will ring when it has taken the last
  /// one.
  func takesUpdate(at now: MonitorTime) -> Bool {
    state.withLock { state in
      if state.holdsUpdate { state.behindSince = state.behindSince ?? now }
      return !state.holdsUpdate
    }
  }

  /// Delivers an update. Only the collector's thread does, so nothing overtakes it.
  func deliver(_ update: Update) {
    let mustWake = state.withLock { state in
      var update = update
      update.behind = state.behindSince.map { update.time - $0 } ?? .zero
      state.behindSince = nil
      return state.mailbox.post(.update(update))
    }
    if mustWake { wake() }
  }

  /// Delivers what became of a command.
  func deliver(_ result: CommandResult) {
    if state.withLock({ $0.mailbox.post(.commandResult(result)) }) { wake() }
  }
}

/// Tells sessions apart. Never given twice, as an object's address may be.
struct SessionID: Hashable {
  let rawValue: UInt64
  private static let last = Atomic<UInt64>(0)

  /// Makes one that is unlike all others.
  static func next() -> SessionID {
    SessionID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}
