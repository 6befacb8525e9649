// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
public import MonitorProtocol
import OperationsCore
import Synchronization

/// One viewer of this process's own queues: receives messages, gives commands.
///
/// The process's collector works for all sessions on a thread of its own, which exists only while
/// there is a session and sleeps while nothing happens. A viewer that does not take its messages
/// costs no memory: what changes meanwhile is merged into the next update.
public final class MonitorSession: Sendable {
  struct Mailbox {
    var messages: [MonitorMessage] = []
    /// Changes that are not in a message yet.
    var changed: Set<OperationReport.ID> = []
    var removed: Set<OperationReport.ID> = []
    /// An update lies in `messages`: the next one waits.
    var holdsUpdate = false
    var isQueueNews = true
    /// The viewer was woken and has not taken its messages since.
    var isWoken = false
    var isInvalid = false

    /// What belongs into the next update, unless there is nothing or the last one was not taken.
    mutating func takeDue() -> (
      changed: Set<OperationReport.ID>, removed: Set<OperationReport.ID>
    )? {
      guard !holdsUpdate, isQueueNews || !changed.isEmpty || !removed.isEmpty else { return nil }
      defer {
        changed = []
        removed = []
        isQueueNews = false
        holdsUpdate = true
      }
      return (changed, removed)
    }
  }

  let minimumInterval: Duration
  let isReadOnly: Bool
  private let wake: @Sendable () -> Void
  private let mailbox: Locked<Mailbox>

  /// Opens a session; the first messages, a greeting and everything that is known, follow at once.
  ///
  /// - Parameters:
  ///   - minimumInterval: The shortest time between two updates.
  ///   - isReadOnly: Whether commands are refused.
  ///   - wake: Called on the collector's thread when messages are waiting, once until they are
  ///     taken. Must not block.
  public init(minimumInterval: Duration, isReadOnly: Bool, wake: @escaping @Sendable () -> Void) {
    self.minimumInterval = minimumInterval
    self.isReadOnly = isReadOnly
    self.wake = wake
    mailbox = Locked(
      Mailbox(messages: [.hello(ProcessFacts.hello(isReadOnly: isReadOnly))]))
    Collector.shared.attach(self)
  }

  deinit { invalidate() }

  /// Takes the waiting messages, oldest first. Any thread; returns at once.
  public func takeMessages() -> [MonitorMessage] {
    let (messages, hasMore) = mailbox.withLock { mailbox in
      defer {
        mailbox.messages = []
        mailbox.holdsUpdate = false
        mailbox.isWoken = false
      }
      return (
        mailbox.messages,
        mailbox.isQueueNews || !mailbox.changed.isEmpty || !mailbox.removed.isEmpty
      )
    }
    if hasMore { Collector.shared.ring(.changes) }
    return messages
  }

  /// Gives a command. Returns at once; a `commandResult` message follows.
  public func send(_ command: MonitorCommand) { Collector.shared.perform(command, for: self) }

  /// Ends the session: nothing more is delivered. Twice is harmless.
  public func invalidate() {
    let isFirst = mailbox.withLock { mailbox in
      defer { mailbox.isInvalid = true }
      return !mailbox.isInvalid
    }
    if isFirst { Collector.shared.detach(ObjectIdentifier(self)) }
  }

  // MARK: For the collector

  /// Notes what has changed, and delivers it unless the last update still lies there.
  func deliver(
    changed: Set<OperationReport.ID>, removed: Set<OperationReport.ID>, isQueueNews: Bool,
    from table: CollectorTable
  ) {
    let due = mailbox.withLock { mailbox in
      mailbox.changed.formUnion(changed)
      mailbox.changed.subtract(removed)
      mailbox.removed.formUnion(removed)
      mailbox.isQueueNews = mailbox.isQueueNews || isQueueNews
      return mailbox.takeDue()
    }
    guard let due else { return }
    // Outside the lock, which the viewer's thread takes: it may have thousands to sort. Only the
    // collector's thread delivers, so nothing overtakes it.
    let update = table.update(changed: due.changed, removed: due.removed)
    let mustWake = mailbox.withLock { mailbox in
      mailbox.messages.append(.update(update))
      defer { mailbox.isWoken = true }
      return !mailbox.isWoken
    }
    if mustWake { wake() }
  }

  func deliver(_ result: CommandResult) {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.messages.append(.commandResult(result))
      defer { mailbox.isWoken = true }
      return !mailbox.isWoken
    }
    if mustWake { wake() }
  }
}

extension CollectorTable {
  /// The operations with these ids, and all queues, as they are now.
  func update(changed: Set<OperationReport.ID>, removed: Set<OperationReport.ID>) -> Update {
    Update(
      time: ProcessFacts.now, queues: queues.values.sorted { $0.id < $1.id },
      changed: changed.sorted().compactMap { reports[$0] }, removed: removed.sorted())
  }
}
