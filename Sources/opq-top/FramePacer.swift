// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Decides when the screen is drawn: only after a change, at once after a key, and otherwise at most
/// once an interval.
struct FramePacer: Equatable {
  /// Thirty frames a second.
  static let defaultInterval = Duration.nanoseconds(33_333_333)

  /// The shortest time between frames that no key asked for.
  let interval: Duration
  private var hasChange = false
  private var isUrgent = false
  private var lastFrame: MonitorTime?

  /// Creates a pacer that has nothing to draw.
  init(interval: Duration = FramePacer.defaultInterval) { self.interval = interval }

  /// Notes that what is shown has changed.
  mutating func noteChange() { hasChange = true }

  /// Notes that somebody waits for what is shown to change.
  mutating func noteInput() { isUrgent = true }

  /// When the next frame is due; `nil` where there is nothing to draw. It may lie in the past.
  func nextFrame(after now: MonitorTime) -> MonitorTime? {
    if isUrgent { return now }
    guard hasChange else { return nil }
    return lastFrame.map { $0 + interval } ?? now
  }

  /// Notes that a frame was drawn.
  mutating func drew(at now: MonitorTime) {
    hasChange = false
    isUrgent = false
    lastFrame = now
  }
}
