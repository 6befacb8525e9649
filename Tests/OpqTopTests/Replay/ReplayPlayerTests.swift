// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import OpqTop

/// Tests of a player for recordings. The local clock begins at 0 s and the recording at 1 s, so the
/// time of the recording is one second ahead.
@Suite struct ReplayPlayerTests {
  private typealias Scene = ReplayScene

  private func at(_ seconds: Double) -> MonitorTime { Scene.time(seconds) }

  private func makePlayer(_ bytes: [UInt8] = Scene.bytes()) throws -> ReplayPlayer {
    ReplayPlayer(try Scene.reader(bytes), at: at(0))
  }

  /// Returns the total number of operations that the player shows at a certain time.
  private func total(_ player: inout ReplayPlayer, at now: MonitorTime) -> Int? {
    for case .update(let update) in player.takeMessages(for: .everything, at: now) {
      return update.queues.first?.counts.total
    }
    return nil
  }

  @Test func aReplayShowsTheStateAtEachMoment() throws {
    var player = try makePlayer()
    for second in 0..<59 {
      player.advance(to: at(Double(second) + 0.5))
      #expect(total(&player, at: at(Double(second) + 0.5)) == second + 1)
    }
    #expect(player.clock.isRunning)
    player.advance(to: at(59.5))
    #expect(total(&player, at: at(59.5)) == 60)
    #expect(!player.clock.isRunning, "the replay stops at the end")
    #expect(player.nextMoment == nil && player.remark == nil)
  }

  @Test func theNextMomentDependsOnTheSpeed() throws {
    var player = try makePlayer()
    let moment = try #require(player.nextMoment)
    #expect(moment > at(1) && moment - at(1) < .microseconds(1))
    player.perform(.changeSpeed(by: 2), at: at(0))
    #expect(try #require(player.nextMoment) < at(0.3))
    player.perform(.togglePlaying, at: at(0))
    #expect(player.nextMoment == nil)
  }

  /// Returns a recording in which operation 1 logs a line each second.
  private static func loggingBytes() -> [UInt8] {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(Scene.hello))
    for second in 1...60 {
      var update = Scene.update(second)
      let line = LogLine(time: update.time, level: .info, text: "line \(second)")
      update.logs = [OperationLog(of: Scene.id(1), first: UInt64(second - 1), lines: [line])]
      bytes += writer.add(.update(update))
    }
    return bytes + writer.finish()
  }

  @Test("A replay shows the log lines up to its moment, also after seeking")
  func logLines() throws {
    var player = try makePlayer(Self.loggingBytes())
    var source = SourceState()
    var interest = Interest()
    interest.logs = .operations([Scene.id(1)])
    func check(upTo second: Int) {
      for message in player.takeMessages(for: interest, at: at(0)) { source.apply(message) }
      let log = source.process.logs[Scene.id(1)]
      let expected = (max(1, second - 49)...second).map { "line \($0)" }
      #expect(log?.lines.map(\.text) == expected, "at \(second)")
      #expect(log?.droppedCount == max(0, second - 50))
    }
    player.perform(.togglePlaying, at: at(0))
    check(upTo: 1)
    player.perform(.step(1), at: at(0))
    check(upTo: 2)
    for (command, second): (ReplayCommand, Int) in [
      (.seek(by: .seconds(30)), 32), (.seek(by: .seconds(-20)), 12), (.seekToEnd, 60),
      (.step(-1), 59), (.seekToStart, 1),
    ] {
      player.perform(command, at: at(0))
      check(upTo: second)
    }
  }

  @Test("A viewer of a replay receives each log line once")
  func newLogLines() throws {
    var player = try makePlayer(Self.loggingBytes())
    player.perform(.togglePlaying, at: at(0))
    func logs(_ logs: Interest.Logs) -> [OperationLog] {
      var interest = Interest()
      interest.logs = logs
      var logs: [OperationLog] = []
      for case .update(let update) in player.takeMessages(for: interest, at: at(0)) {
        logs += update.logs
      }
      return logs
    }
    #expect(logs(.operations([])) == [])
    #expect(logs(.operations([Scene.id(1), Scene.id(2)])).map(\.end) == [1, 0])
    #expect(logs(.operations([Scene.id(1), Scene.id(2)])) == [])
    player.perform(.step(1), at: at(0))
    #expect(logs(.all).map(\.first) == [1])
    #expect(logs(.operations([])) == [])
    #expect(logs(.all).map(\.lines.count) == [2])
  }

  @Test("Seeking shows the same as playing up to there, wherever it begins")
  func seeks() throws {
    var player = try makePlayer()
    player.perform(.togglePlaying, at: at(0))
    for (command, expected): (ReplayCommand, Int) in [
      (.seek(by: .seconds(5)), 6), (.seek(by: .seconds(5)), 11), (.seek(by: .seconds(-5)), 6),
      (.seek(by: .seconds(-60)), 1), (.seek(by: .seconds(33)), 34), (.seekToEnd, 60),
      (.seek(by: .seconds(60)), 60), (.seek(by: .seconds(-7)), 53), (.seekToStart, 1),
    ] {
      player.perform(command, at: at(0))
      let messages = player.takeMessages(for: .everything, at: at(0))
      #expect(messages.first == .hello(Scene.hello), "everything is sent again")
      guard case .update(let update)? = messages.last else { throw Missing() }
      #expect(update.queues.first?.counts.total == expected, "\(command)")
      #expect(Set(update.changed.map(\.id)) == Set((1...expected).map { Scene.id($0) }))
      #expect(update.changed.count { $0.state == .executing } == 1)
      #expect(player.status(at: at(0)).position == .seconds(expected - 1))
    }
  }

  @Test func aStepMovesByOneUpdate() throws {
    var player = try makePlayer()
    player.perform(.step(1), at: at(0.5))
    #expect(total(&player, at: at(0.5)) == 2)
    #expect(!player.clock.isRunning)
    for expected in [3, 4, 5, 6, 7] {
      player.perform(.step(1), at: at(0.5))
      #expect(total(&player, at: at(0.5)) == expected)
    }
    // The steps backwards pass the time 6 s, at which the recording contains a complete state.
    for expected in [6, 5, 4, 3, 2, 1, 1] {
      player.perform(.step(-1), at: at(0.5))
      #expect(total(&player, at: at(0.5)) == expected)
    }
    player.perform(.step(3), at: at(0.5))
    #expect(player.status(at: at(9)).position == .seconds(3))
  }

  @Test func commandsSeekToWarnings() throws {
    var player = try makePlayer()
    func position() -> Duration { player.status(at: at(100)).position }
    for (command, second): (ReplayCommand, Int) in [
      (.nextWarning, 20), (.nextWarning, 40), (.previousWarning, 20), (.nextWarning, 40),
    ] {
      player.perform(command, at: at(0.1))
      #expect(position() == .seconds(second - 1), "\(command)")
      #expect(!player.clock.isRunning)
      guard case .update(let update)? = player.takeMessages(for: .everything, at: at(1)).last else {
        throw Missing()
      }
      #expect(update.warnings.isEmpty == ![20, 40].contains(second))
    }
  }

  @Test("If there is no other warning, `{` and `}` show a message and do not move the replay")
  func withoutAWarningTheReplayStays() throws {
    var player = try makePlayer()
    for command in [ReplayCommand.nextWarning, .nextWarning] { player.perform(command, at: at(0)) }
    #expect(player.status(at: at(0)).failure == nil)
    for number in 1...2 {
      player.perform(.nextWarning, at: at(1))
      let status = player.status(at: at(1))
      #expect(status.position == .seconds(39))
      #expect(
        status.failure
          == ReplayFailure(number: number, sentence: "the recording has no later warning"))
    }
    player.perform(.seek(by: .seconds(-30)), at: at(2))
    player.perform(.togglePlaying, at: at(2))
    player.perform(.previousWarning, at: at(2))
    #expect(player.status(at: at(2)).position == .seconds(9) && player.clock.isRunning)
    #expect(
      player.status(at: at(2)).failure
        == ReplayFailure(number: 3, sentence: "the recording has no earlier warning"))
  }

  @Test func playingAtTheEndStartsAgain() throws {
    var player = try makePlayer()
    player.perform(.seekToEnd, at: at(1))
    player.advance(to: at(1))
    #expect(!player.clock.isRunning)
    player.perform(.togglePlaying, at: at(2))
    #expect(player.clock.isRunning)
    #expect(total(&player, at: at(2)) == 1)
  }

  @Test func aTruncatedRecordingPlaysToItsLastCompleteUpdate() throws {
    let whole = Scene.bytes(isFinished: false)
    var player = try makePlayer(Array(whole.dropLast(3)))
    player.perform(.seekToEnd, at: at(1))
    #expect(total(&player, at: at(1)) == 59)
    #expect(player.remark?.contains("not completed") == true)
    #expect(player.status(at: at(1)).length == .seconds(58))
  }

  @Test("Damage in the middle ends the recording there, and is reported when the player reaches it")
  func damage() throws {
    var bytes = Scene.bytes()
    var reader = try Scene.reader(bytes)
    let found = reader.update(at: reader.snapshot(upTo: at(30)))
    let damaged = try #require(found)
    bytes[damaged.offset + 40] ^= 1
    var player = try makePlayer(bytes)
    #expect(player.remark == nil)
    player.advance(to: at(28))
    player.advance(to: at(50))
    let last = Int(damaged.update.time.nanoseconds / 1_000_000_000) - 1
    #expect(total(&player, at: at(50)) == last)
    #expect(player.remark?.contains("damaged at byte \(damaged.offset)") == true)
    #expect(!player.clock.isRunning)
    #expect(player.status(at: at(50)).length == .seconds(last - 1))
  }

  @Test func theEndingOfTheProcessIsShownAtTheEnd() throws {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(Scene.hello)) + writer.add(.update(Scene.update(1)))
    bytes += writer.add(.update(Scene.update(2))) + writer.add(.ended(reason: "the process exited"))
    bytes += writer.finish()
    var player = try makePlayer(bytes)
    #expect(player.remark == nil)
    player.advance(to: at(1))
    #expect(player.remark == "the recording ends here: the process exited")
  }

  @Test("After any keys, the shown state is the state at that moment")
  func anyCommands() throws {
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let commands: [ReplayCommand] = [
      .togglePlaying, .changeSpeed(by: 1), .changeSpeed(by: -1), .step(1), .step(-1),
      .seek(by: .seconds(5)), .seek(by: .seconds(-5)), .seek(by: .seconds(60)),
      .seek(by: .seconds(-60)), .seekToStart, .seekToEnd, .nextWarning, .previousWarning,
    ]
    var player = try makePlayer()
    var now = 0.0
    for _ in 0..<Effort.scaled(1_000) {
      now += Double.random(in: 0...2, using: &generator)
      player.advance(to: at(now))
      let command = commands.randomElement(using: &generator) ?? .togglePlaying
      player.perform(command, at: at(now))
      player.advance(to: at(now))
      let status = player.status(at: at(now))
      let second = Int(status.time.nanoseconds / 1_000_000_000)
      #expect(total(&player, at: at(now)) == second, "\(command) at \(now)")
      #expect(status.position >= .zero && status.position <= status.length)
      let operations = player.table.state.operations.all
      #expect(operations.count == second)
      #expect(operations.count { $0.state == .executing } == 1)
    }
  }

  private struct Missing: Error {}
}
