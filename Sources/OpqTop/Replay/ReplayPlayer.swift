// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol

/// Replays a recording. The display shows the state at the time of a clock that the viewer
/// controls.
struct ReplayPlayer: Sendable {
  let hello: Hello
  private(set) var clock: PlaybackClock
  private(set) var table = ReplayTable()
  /// Whether the state has changed since the viewer's last update.
  private(set) var hasNews = true
  /// Whether the clock was set to another time, so that the viewer needs the complete state.
  private var hasJumped = true

  private var reader: RecordingReader
  /// The last update that was replayed.
  private var current: RecordedUpdate?
  /// The next update of the recording; `nil` at the end.
  private var next: RecordedUpdate?

  /// Creates a player at the beginning of a recording.
  init(_ reader: RecordingReader, at now: MonitorTime) {
    self.reader = reader
    hello = reader.hello
    clock = PlaybackClock(start: reader.start, end: reader.end, at: now)
    marks = ReplayMarks(reader)
    load(reader.snapshot(upTo: reader.start), at: now)
  }

  // MARK: Messages

  /// A sentence for the user: the fault if the recording has one, or else, at the end of the
  /// recording, that it ends and why. It is `nil` if neither applies.
  var remark: String? {
    guard next == nil else { return reader.fault }
    return reader.fault
      ?? reader.farewell.map {
        $0.isEmpty ? "the recording ends here" : "the recording ends here: \($0)"
      }
  }

  /// The last command that was not carried out; `nil` if all commands were carried out.
  private(set) var failure: ReplayFailure?

  /// The moments of warnings and failures.
  private(set) var marks: ReplayMarks

  /// Returns the position and the speed of the replay.
  func status(at now: MonitorTime) -> ReplayStatus {
    ReplayStatus(clock, remark: remark, failure: failure, marks: marks, at: now)
  }

  /// Returns the new messages for the viewer.
  mutating func takeMessages(for interest: Interest, at now: MonitorTime) -> [MonitorMessage] {
    let update = table.takeUpdate(for: interest, at: clock.time(at: now))
    defer { (hasJumped, hasNews) = (false, false) }
    return (hasJumped ? [.hello(hello)] : []) + (update.map { [.update($0)] } ?? [])
  }

  /// The moment of the local clock at which the next update is due; `nil` if the replay is paused
  /// or at its end.
  var nextMoment: MonitorTime? { next.flatMap { clock.moment(of: $0.update.time) } }

  // MARK: Replaying

  /// Applies the updates of the recording that are due.
  mutating func advance(to now: MonitorTime) {
    let time = clock.time(at: now)
    while let due = next, due.update.time <= time { play(due, at: now) }
    // The clock stops at the end of the recording.
    if next == nil, time >= clock.end { clock.setRunning(false, at: now) }
  }

  /// Performs a command of the viewer.
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
    case .go(to: let position):
      seek(to: clock.start + position, at: now)
    case .seekToStart:
      seek(to: clock.start, at: now)
    case .seekToEnd:
      seek(to: clock.end, at: now)
    case .nextWarning:
      go(to: current.flatMap { reader.warning(behind: $0.offset) }, orSay: "later", at: now)
    case .previousWarning:
      go(to: current.flatMap { reader.warning(before: $0.offset) }, orSay: "earlier", at: now)
    }
  }

  /// Shows the moment of a warning, and pauses the replay. If there is no warning, notes this as a failure.
  private mutating func go(
    to warning: (time: MonitorTime, offset: Int)?, orSay place: String, at now: MonitorTime
  ) {
    guard let warning else {
      failure = ReplayFailure(
        number: (failure?.number ?? 0) + 1, sentence: "the recording has no \(place) warning")
      return
    }
    go(to: warning.offset, at: now)
    clock.setRunning(false, at: now)
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

  /// Shows the state after the update at an offset of the recording.
  private mutating func go(to offset: Int, at now: MonitorTime) {
    load(reader.snapshot(before: offset + 1), at: now)
    while let due = next, due.offset <= offset { play(due, at: now) }
    clock.set(to: current?.update.time ?? clock.start, at: now)
  }

  /// Shows the complete state at an offset of the recording, and discards the present state.
  private mutating func load(_ offset: Int, at now: MonitorTime) {
    table.reset()
    (hasJumped, hasNews) = (true, true)
    current = nil
    next = reader.update(at: offset)
    // If the recording is damaged at this offset, the replay starts at an earlier offset and ends at the
    // damage.
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
    marks = ReplayMarks(reader)
  }
}

extension ReplayMarks {
  /// Creates the marks of a recording.
  init(_ reader: RecordingReader) {
    self.init(
      warnings: reader.warningTimes.map { $0 - reader.start },
      failures: reader.failureTimes.map { $0 - reader.start })
  }
}

extension ReplayStatus {
  /// Creates the status for the present time of a clock.
  init(
    _ clock: PlaybackClock, remark: String?, failure: ReplayFailure?, marks: ReplayMarks,
    at now: MonitorTime
  ) {
    let time = clock.time(at: now)
    self.init(
      time: time, position: time - clock.start, length: clock.end - clock.start,
      speed: clock.speed, isPlaying: clock.isRunning, remark: remark, failure: failure, marks: marks
    )
  }
}
