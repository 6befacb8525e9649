// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsMonitor
import Synchronization

/// Several processes that are watched as one.
final class ProcessGroup: MonitorSource {
  private let sessions: [any MonitorSource]
  private let merge: Mutex<ProcessMerge>
  private let wake: @Sendable () -> Void

  /// - Parameters:
  ///   - sessions: The processes, in the order of their numbers.
  ///   - interest: What each of them was asked to tell.
  ///   - wake: Called on any thread when there is something to tell that no session wakes for.
  init(
    _ sessions: [any MonitorSource], interest: Interest, wake: @escaping @Sendable () -> Void
  ) {
    self.sessions = sessions
    self.wake = wake
    merge = Mutex(
      ProcessMerge(count: sessions.count, interest: interest, bootID: ProcessStart.bootID))
  }

  func takeMessages() -> [MonitorMessage] {
    let told = sessions.map { $0.takeMessages() }
    let now = MonitorTime.now
    return merge.withLock { merge in
      for (index, messages) in told.enumerated() {
        for message in messages { merge.take(message, from: index + 1, at: now) }
      }
      return merge.takeMessages(at: now)
    }
  }

  func watch(_ interest: Interest) {
    let wishes = merge.withLock { $0.watch(interest) }
    for wish in wishes { sessions[wish.process - 1].watch(wish.interest) }
    // An update follows, though no process has anything to add.
    if wishes.isEmpty { wake() }
  }

  func send(_ command: MonitorCommand) {
    let orders = merge.withLock { $0.give(command) }
    for order in orders { sessions[order.process - 1].send(order.command) }
    if orders.isEmpty { wake() }
  }

  func invalidate() {
    for session in sessions { session.invalidate() }
  }
}
