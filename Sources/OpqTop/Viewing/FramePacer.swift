// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import MonitorProtocol

/// Decides when the screen is drawn. It is drawn only after a change: at once after a key, and
/// otherwise at most once per interval.
struct FramePacer: Equatable {
  /// The interval for thirty frames per second.
  static let defaultInterval = Duration.nanoseconds(33_333_333)
  /// The time after a key within which updates are drawn thirty times per second, even if the
  /// interval is longer. These updates may show the effect of the key.
  static let answerTime = Duration.milliseconds(500)

  /// The shortest time between two frames if only updates have changed the display.
  var interval: Duration
  private var hasNews = false
  private var hasReaction = false
  private var isUrgent = false
  private var lastFrame: MonitorTime?
  private var lastInput: MonitorTime?

  /// Creates a pacer without changes to draw.
  init(interval: Duration = FramePacer.defaultInterval) { self.interval = interval }

  /// Notes that the monitor has sent messages.
  mutating func noteNews() { hasNews = true }

  /// Notes a change that is not caused by updates: time has passed, or the program has answered a
  /// request of the user. Such a change is drawn without waiting for the interval, but at most
  /// thirty times per second.
  mutating func noteReaction() { hasReaction = true }

  /// Notes that the user has pressed a key and waits for the display to change.
  mutating func noteInput(at now: MonitorTime) {
    isUrgent = true
    lastInput = now
  }

  /// Returns the time at which the next frame is due; `nil` if no frame is needed. The time may be
  /// in the past.
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
  /// Blocks the thread until another thread rings the waker, or until a moment. If the waker was
  /// rung, resets it. If the moment is `nil`, there is no time limit. The function may return
  /// early.
  func wait(until moment: MonitorTime?) {
    var waiting = cmonitor_waiting(file: descriptor, is_readable: false, is_ready: false)
    if cmonitor_wait(&waiting, 1, MonitorTime.pollTimeout(from: .now, until: moment)) > 0 {
      answer()
    }
  }
}
