// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Dispatch
import MonitorClient
import MonitorProtocol
import Synchronization

/// A session that replays a recording. The dashboard uses it like a session with a process.
final class ReplaySession: MonitorSource {
  /// The shortest time between two updates for the viewer.
  private static let interval = Duration.milliseconds(40)

  /// The data that the viewer's thread and the dispatch queue of the replay share.
  private struct State {
    var mailbox = Mailbox()
    var commands: [ReplayCommand] = []
    /// Whether the viewer has requested data and has not received an update since then.
    var isAsked = true
    var clock: PlaybackClock
    var remark: String?
    var failure: ReplayFailure?
    var marks: ReplayMarks
  }

  private struct Playing {
    /// The result of a step of the replay.
    struct Step: Sendable {
      /// The messages for the viewer; `nil` if the viewer receives no update.
      var messages: [MonitorMessage]?
      var clock: PlaybackClock
      var remark: String?
      var failure: ReplayFailure?
      var marks: ReplayMarks
      /// The time until the next step and the sequence number of its wake-up; `nil` if the replay
      /// waits for the viewer.
      var next: (delay: Duration, waking: Int)?
    }

    var player: ReplayPlayer
    /// The sequence number of the wake-up that was scheduled last. When an earlier wake-up occurs,
    /// it has no effect.
    var waking = 0

    /// Performs the commands and the updates that are due.
    ///
    /// - Parameters:
    ///   - commands: The new commands of the viewer.
    ///   - interest: The data that the viewer requests; `nil` if the viewer has not received its
    ///     last messages.
    ///   - isAsked: Whether the viewer receives an update even if nothing has changed.
    ///   - now: The current time.
    /// - Returns: The effects of the step, which the caller carries out after it has released the
    ///   lock.
    mutating func play(
      _ commands: [ReplayCommand], for interest: Interest?, isAsked: Bool, at now: MonitorTime
    ) -> Step {
      player.advance(to: now)
      for command in commands { player.perform(command, at: now) }
      var messages: [MonitorMessage]?
      if let interest, player.hasNews || isAsked {
        messages = player.takeMessages(for: interest, at: now)
      }
      var step = Step(
        messages: messages, clock: player.clock, remark: player.remark, failure: player.failure,
        marks: player.marks)
      if interest != nil, let moment = player.nextMoment {
        waking += 1
        step.next = (max(ReplaySession.interval, moment - now), waking)
      }
      return step
    }
  }

  private let queue = DispatchQueue(label: "opq-replay")
  /// The recording that is replayed. Only `queue` uses it.
  private let playing: Mutex<Playing>
  private let state: Mutex<State>
  private let wake: @Sendable () -> Void

  /// Creates a session and begins the replay.
  ///
  /// - Parameters:
  ///   - reader: The recording.
  ///   - wake: A function that is called on any thread when there are messages.
  init(_ reader: RecordingReader, wake: @escaping @Sendable () -> Void) {
    let player = ReplayPlayer(reader, at: .now)
    state = Mutex(State(clock: player.clock, remark: player.remark, marks: player.marks))
    playing = Mutex(Playing(player: player))
    self.wake = wake
    queue.async { self.run() }
  }

  /// Returns the position and the speed of the replay.
  func status(at now: MonitorTime) -> ReplayStatus {
    state.withLock { state in
      ReplayStatus(
        state.clock, remark: state.remark, failure: state.failure, marks: state.marks, at: now)
    }
  }

  /// Performs a command of the viewer.
  func perform(_ command: ReplayCommand) {
    state.withLock { $0.commands.append(command) }
    queue.async { self.run() }
  }

  func takeMessages() -> [MonitorMessage] {
    let messages = state.withLock { $0.mailbox.takeMessages() }
    // While the mailbox, which holds the messages for the viewer, contains an update, the player
    // posts no further update. If an update was removed from the mailbox, the player has to run
    // again.
    if messages.contains(where: \.isUpdate) { queue.async { self.run() } }
    return messages
  }

  func watch(_ interest: Interest) {
    state.withLock {
      $0.mailbox.interest = interest
      $0.isAsked = true
    }
    queue.async { self.run() }
  }

  func send(_ command: MonitorCommand) {
    let result = CommandResult(command, .denied)
    if state.withLock({ $0.mailbox.post(.commandResult(result)) }) { wake() }
  }

  func invalidate() { state.withLock { _ = $0.mailbox.invalidate() } }

  // MARK: On the queue

  private func run() {
    let (commands, mailbox, isAsked) = state.withLock { state in
      defer { state.commands = [] }
      return (state.commands, state.mailbox, state.isAsked)
    }
    guard !mailbox.isInvalid else { return }
    let (interest, isTaken) = (mailbox.interest, mailbox.messages.isEmpty)
    let now = MonitorTime.now
    let result = playing.withLock {
      $0.play(commands, for: isTaken ? interest : nil, isAsked: isAsked, at: now)
    }
    state.withLock { state in
      for message in result.messages ?? [] { _ = state.mailbox.post(message) }
      // If the viewer has sent a new interest (the data that it requests) since the update was
      // created, the viewer needs another update.
      if result.messages != nil, state.mailbox.interest == interest { state.isAsked = false }
      (state.clock, state.remark, state.failure) = (result.clock, result.remark, result.failure)
      state.marks = result.marks
    }
    if result.messages != nil || !commands.isEmpty { wake() }
    guard let (delay, waking) = result.next else { return }
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay.saturatedNanoseconds))) {
      if self.playing.withLock({ $0.waking == waking }) { self.run() }
    }
  }
}
