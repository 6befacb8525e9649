// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol

/// Replays a recording: the display follows a clock that the viewer sets.
struct ReplayPlayer: Sendable {
  let hello: Hello
  private(set) var clock: PlaybackClock
  private(set) var table = RecordedTable()
  /// Whether there are changes since the viewer's last update.
  private(set) var hasNews = true
  /// Whether the clock has jumped. The viewer then receives the complete state again.
  private var hasJumped = true

  private var reader: RecordingReader
  /// The last replayed update.
  private var current: RecordedUpdate?
  /// The next update; `nil` at the end.
  private var next: RecordedUpdate?

  /// Creates a player at the start.
  init(_ reader: RecordingReader, at now: MonitorTime) {
    self.reader = reader
    hello = reader.hello
    clock = PlaybackClock(start: reader.start, end: reader.end, at: now)
    load(reader.snapshot(upTo: reader.start), at: now)
  }

  // MARK: Messages

  /// The remark about the recording; `nil` if there is none.
  var remark: String? {
    guard next == nil else { return reader.fault }
    return reader.fault
      ?? reader.farewell.map {
        $0.isEmpty ? "the recording ends here" : "the recording ends here: \($0)"
      }
  }

  /// Returns the state of the player.
  func status(at now: MonitorTime) -> ReplayStatus {
    ReplayStatus(clock, remark: remark, at: now)
  }

  /// Returns the messages for the viewer.
  mutating func takeMessages(for interest: Interest, at now: MonitorTime) -> [MonitorMessage] {
    let update = table.takeUpdate(for: interest, at: clock.time(at: now))
    defer { (hasJumped, hasNews) = (false, false) }
    return (hasJumped ? [.hello(hello)] : []) + (update.map { [.update($0)] } ?? [])
  }

  /// When the next update is due on the local clock; `nil` if the clock has stopped.
  var nextMoment: MonitorTime? { next.flatMap { clock.moment(of: $0.update.time) } }

  // MARK: Replaying

  /// Applies the due updates.
  mutating func advance(to now: MonitorTime) {
    let time = clock.time(at: now)
    while let due = next, due.update.time <= time { play(due, at: now) }
    // The clock stops at the end.
    if next == nil, time >= clock.end { clock.setRunning(false, at: now) }
  }

  /// Carries out a command of the viewer.
  mutating func perform(_ command: ReplayCommand, at now: MonitorTime) {
    switch command {
    case .togglePlaying:
      if !clock.isRunning, next == nil { seek(to: clock.start, at: now) }
      clock.setRunning(!clock.isRunning, at: now)
    case .changeSpeed(let steps):
      clock.changeSpeed(by: steps, at: now)
    case .step(let steps):
      clock.setRunning(false, at: now)
      for _ in 0..<steps.magnitude {
        if steps > 0 { stepForward(at: now) } else { stepBack(at: now) }
      }
    case .seek(let duration):
      seek(to: clock.time(at: now) + duration, at: now)
    case .seekToStart:
      seek(to: clock.start, at: now)
    case .seekToEnd:
      seek(to: clock.end, at: now)
    case .nextWarning:
      let place = current.flatMap { reader.warning(behind: $0.offset) }
      if let place { go(to: place.offset, at: now) } else { seek(to: clock.end, at: now) }
      clock.setRunning(false, at: now)
    case .previousWarning:
      let place = current.flatMap { reader.warning(before: $0.offset) }
      if let place { go(to: place.offset, at: now) } else { seek(to: clock.start, at: now) }
      clock.setRunning(false, at: now)
    }
  }

  private mutating func stepForward(at now: MonitorTime) {
    guard let due = next else { return }
    play(due, at: now)
    clock.set(to: due.update.time, at: now)
  }

  private mutating func stepBack(at now: MonitorTime) {
    guard let current else { return }
    load(reader.snapshot(before: current.offset), at: now)
    while let due = next, due.offset < current.offset { play(due, at: now) }
    clock.set(to: self.current?.update.time ?? clock.start, at: now)
  }

  private mutating func seek(to time: MonitorTime, at now: MonitorTime) {
    let time = max(clock.start, min(clock.end, time))
    load(reader.snapshot(upTo: time), at: now)
    while let due = next, due.update.time <= time { play(due, at: now) }
    clock.set(to: time, at: now)
  }

  /// Shows the update that begins at an offset.
  private mutating func go(to offset: Int, at now: MonitorTime) {
    load(reader.snapshot(before: offset + 1), at: now)
    while let due = next, due.offset <= offset { play(due, at: now) }
    clock.set(to: current?.update.time ?? clock.start, at: now)
  }

  /// Shows the complete update at an offset, and discards the earlier state.
  private mutating func load(_ offset: Int, at now: MonitorTime) {
    table.reset()
    (hasJumped, hasNews) = (true, true)
    current = nil
    next = reader.update(at: offset)
    // If this place is damaged, the replay continues from an earlier one, up to the damage.
    var start = offset
    while next == nil, reader.snapshot(before: start) < start {
      start = reader.snapshot(before: start)
      next = reader.update(at: start)
    }
    if let first = next { play(first, at: now) }
  }

  private mutating func play(_ update: RecordedUpdate, at now: MonitorTime) {
    table.apply(update.update, isWhole: update.isWhole)
    current = update
    hasNews = true
    next = reader.update(at: update.end)
    guard next == nil, reader.fault != nil else { return }
    reader.end(with: update)
    clock.setEnd(update.update.time, at: now)
  }
}

extension ReplayStatus {
  /// Creates the status of a clock.
  init(_ clock: PlaybackClock, remark: String?, at now: MonitorTime) {
    let time = clock.time(at: now)
    self.init(
      time: time, position: time - clock.start, length: clock.end - clock.start,
      speed: clock.speed, isPlaying: clock.isRunning, remark: remark)
  }
}
