// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import NIOCore
import Synchronization

/// A source that combines several processes.
package final class ProcessGroup: MonitorSource {
  private let sessions: [any MonitorSource]
  private let state: Mutex<State>
  private let wake: @Sendable (Duration) -> Void

  private struct State {
    var merge: ProcessMerge
    /// The time of the scheduled wake-up; `nil` if none is scheduled.
    var wakeUp: MonitorTime?

    /// Returns the delay until the next wake-up; `nil` if no further wake-up must be scheduled.
    mutating func takeDelay(at now: MonitorTime) -> Duration? {
      let deadline = merge.deadline(after: now)
      defer { wakeUp = deadline }
      return deadline == wakeUp ? nil : deadline.map { $0 - now }
    }
  }

  /// Creates a group of sessions, which calls a closure when a wake-up must be scheduled.
  ///
  /// - Parameters:
  ///   - sessions: The processes, in the order of their numbers.
  ///   - interest: The interest that each session was opened with.
  ///   - wake: A closure that is called on any thread with a delay. After this delay, the group has
  ///     messages although no session has new messages.
  init(
    _ sessions: [any MonitorSource], interest: Interest,
    wake: @escaping @Sendable (Duration) -> Void
  ) {
    self.sessions = sessions
    self.wake = wake
    state = Mutex(
      State(
        merge: ProcessMerge(
          count: sessions.count, interest: interest, bootID: ProcessStart.bootID,
          secondsSince1970AtZero: MonitorTime.secondsSince1970AtZero)))
  }

  /// Creates a group of sessions that are connected to sockets of this machine.
  ///
  /// - Parameters:
  ///   - sessions: The processes, in the order of their numbers.
  ///   - interest: The interest that each session was opened with.
  ///   - ring: A closure that is called on any thread when the group has messages although no
  ///     session has new messages.
  package convenience init(
    _ sessions: [RemoteSession], interest: Interest, ring: @escaping @Sendable () -> Void
  ) {
    self.init(sessions, interest: interest) { delay in
      ConnectionLoop.shared.scheduleTask(in: TimeAmount(delay)) { ring() }
    }
  }

  package func takeMessages() -> [MonitorMessage] {
    let reported = sessions.map { $0.takeMessages() }
    let now = MonitorTime.now
    let (messages, delay) = state.withLock { state in
      for (index, messages) in reported.enumerated() {
        for message in messages { state.merge.take(message, from: index + 1, at: now) }
      }
      return (state.merge.takeMessages(at: now), state.takeDelay(at: now))
    }
    if let delay { wake(delay) }
    return messages
  }

  package func watch(_ interest: Interest) {
    let now = MonitorTime.now
    let (wishes, delay) = state.withLock { state in
      (state.merge.watch(interest, at: now), state.takeDelay(at: now))
    }
    for wish in wishes { sessions[wish.process - 1].watch(wish.interest) }
    // The viewer must receive an update even if no process sends one.
    if wishes.isEmpty { wake(.zero) }
    if let delay { wake(delay) }
  }

  package func send(_ command: MonitorCommand) {
    let now = MonitorTime.now
    let (orders, delay) = state.withLock { state in
      (state.merge.give(command, at: now), state.takeDelay(at: now))
    }
    for order in orders { sessions[order.process - 1].send(order.command) }
    if let delay = orders.isEmpty ? .zero : delay { wake(delay) }
  }

  package func invalidate() {
    for session in sessions { session.invalidate() }
  }
}
