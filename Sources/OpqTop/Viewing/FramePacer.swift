// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Glibc
import MonitorProtocol

/// Decides when the screen is drawn: only after a change; immediately after a key, and otherwise at
/// most once per interval.
struct FramePacer: Equatable {
  /// Thirty frames per second.
  static let defaultInterval = Duration.nanoseconds(33_333_333)
  /// How long after a key updates are drawn thirty times per second, regardless of the interval,
  /// because they may include the key's effect.
  static let answerTime = Duration.milliseconds(500)

  /// The shortest time between frames that only updates require.
  var interval: Duration
  private var hasNews = false
  private var hasReaction = false
  private var isUrgent = false
  private var lastFrame: MonitorTime?
  private var lastInput: MonitorTime?

  /// Creates a pacer without pending changes.
  init(interval: Duration = FramePacer.defaultInterval) { self.interval = interval }

  /// Notes that messages of the monitor have arrived.
  mutating func noteNews() { hasNews = true }

  /// Notes that the display changes on its own, or after an answer to the user's request. Such a
  /// change does not wait for the interval, but there are at most thirty frames per second.
  mutating func noteReaction() { hasReaction = true }

  /// Notes that the user waits for a change of the display.
  mutating func noteInput(at now: MonitorTime) {
    isUrgent = true
    lastInput = now
  }

  /// Returns when the next frame is due; `nil` if there is nothing to draw. The time may be in the
  /// past.
  func nextFrame(after now: MonitorTime) -> MonitorTime? {
    if isUrgent { return now }
    guard hasNews || hasReaction else { return nil }
    let isAnswering = lastInput.map { now - $0 < Self.answerTime } ?? false
    let isQuick = hasReaction || isAnswering
    return lastFrame.map { $0 + (isQuick ? min(interval, Self.defaultInterval) : interval) } ?? now
  }

  /// Notes that a frame was drawn.
  mutating func drew(at now: MonitorTime) {
    hasNews = false
    hasReaction = false
    isUrgent = false
    lastFrame = now
  }
}

extension Waker {
  /// Waits until it rings or until a moment, and then clears the ring; `nil` means no time limit.
  /// It may return early.
  func wait(until moment: MonitorTime?) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, MonitorTime.pollTimeout(from: .now, until: moment)) > 0 { answer() }
  }
}
