// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol

/// Plays a recording: what is shown follows a clock that the viewer sets.
struct ReplayPlayer: Sendable {
  let hello: Hello
  private(set) var clock: PlaybackClock
  private(set) var table = RecordedTable()
  /// Whether something was played since the viewer was told.
  private(set) var hasNews = true
  /// Whether another moment was gone to: what the viewer knows is to be told anew.
  private var hasJumped = true

  private var reader: RecordingReader
  /// The update that was played last.
  private var current: RecordedUpdate?
  /// The one that comes next; `nil` at the end.
  private var next: RecordedUpdate?

  /// Begins at the start.
  init(_ reader: RecordingReader, at now: MonitorTime) {
    self.reader = reader
    hello = reader.hello
    clock = PlaybackClock(start: reader.start, end: reader.end, at: now)
    load(reader.snapshot(upTo: reader.start), at: now)
  }

  // MARK: Telling

  /// What is to be known of the recording itself; `nil` for nothing.
  var remark: String? {
    guard next == nil else { return reader.fault }
    return reader.fault ?? reader.farewell.map { $0.isEmpty ? "it ended here" : "it ended: \($0)" }
  }

  /// Where it is.
  func status(at now: MonitorTime) -> ReplayStatus {
    ReplayStatus(clock, remark: remark, at: now)
  }

  /// What the viewer has to be told now.
  mutating func takeMessages(for interest: Interest, at now: MonitorTime) -> [MonitorMessage] {
    let update = table.takeUpdate(for: interest, at: clock.time(at: now))
    defer { (hasJumped, hasNews) = (false, false) }
    return (hasJumped ? [.hello(hello)] : []) + (update.map { [.update($0)] } ?? [])
  }

  /// When the next update is to be played on the local clock; `nil` where it stands still.
  var nextMoment: MonitorTime? { next.flatMap { clock.moment(of: $0.update.time) } }

  // MARK: Playing

  /// Plays what is due.
  mutating func advance(to now: MonitorTime) {
    let time = clock.time(at: now)
    while let due = next, due.update.time <= time { play(due, at: now) }
    // At the end it stands still.
    if next == nil, time >= clock.end { clock.setRunning(false, at: now) }
  }

  /// Does what the viewer wants.
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

  /// Shows the update at an offset, which holds everything, and nothing of what was shown before.
  private mutating func load(_ offset: Int, at now: MonitorTime) {
    table.reset()
    (hasJumped, hasNews) = (true, true)
    current = nil
    next = reader.update(at: offset)
    // Where that is damaged, playing from before it ends there.
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
  /// What a clock shows.
  init(_ clock: PlaybackClock, remark: String?, at now: MonitorTime) {
    let time = clock.time(at: now)
    self.init(
      time: time, position: time - clock.start, length: clock.end - clock.start,
      speed: clock.speed, isPlaying: clock.isRunning, remark: remark)
  }
}
