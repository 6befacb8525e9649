// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Glibc
import MonitorProtocol

/// Decides when the screen is drawn: only after a change, at once after a key, and otherwise at most
/// once an interval.
struct FramePacer: Equatable {
  /// Thirty frames a second.
  static let defaultInterval = Duration.nanoseconds(33_333_333)
  /// For so long after a key news are drawn thirty times a second, whatever the interval: what the
  /// key has asked for is among them.
  static let answerTime = Duration.milliseconds(500)

  /// The shortest time between frames that only news call for.
  var interval: Duration
  private var hasNews = false
  private var hasReaction = false
  private var isUrgent = false
  private var lastFrame: MonitorTime?
  private var lastInput: MonitorTime?

  /// Creates a pacer that has nothing to draw.
  init(interval: Duration = FramePacer.defaultInterval) { self.interval = interval }

  /// Notes that the monitor has told something.
  mutating func noteNews() { hasNews = true }

  /// Notes that the picture changes by itself, or by an answer to what the user has asked for: that
  /// does not wait for the interval, as long as there are not more than thirty frames a second.
  mutating func noteReaction() { hasReaction = true }

  /// Notes that somebody waits for what is shown to change.
  mutating func noteInput(at now: MonitorTime) {
    isUrgent = true
    lastInput = now
  }

  /// When the next frame is due; `nil` where there is nothing to draw. It may lie in the past.
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
  /// Waits until it rings, and falls silent, or until a moment; `nil` for ever. It may return early.
  func wait(until moment: MonitorTime?) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, MonitorTime.pollTimeout(from: .now, until: moment)) > 0 { answer() }
  }
}
