// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

/// Tests of the marks of a recording, and of going to a time of it.
@Suite struct ReplayMarksTests {
  private typealias Scene = ReplayScene

  /// Returns a recording in which operations fail after 10 s and after 30 s.
  private static func bytes(isFinished: Bool = true) -> [UInt8] {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(Scene.hello))
    for second in 1...60 {
      var update = Scene.update(second)
      update.queues[0].counts.failed = second < 10 ? 0 : second < 30 ? 1 : 5
      bytes += writer.add(.update(update))
    }
    return isFinished ? bytes + writer.finish() : bytes
  }

  private func player(_ bytes: [UInt8]) throws -> ReplayPlayer {
    ReplayPlayer(try Scene.reader(bytes), at: Scene.time(0))
  }

  @Test("RB-2: the marks are the times of new warnings and failures", arguments: [true, false])
  func marks(isFinished: Bool) throws {
    let marks = try player(Self.bytes(isFinished: isFinished)).status(at: Scene.time(0)).marks
    #expect(marks.warnings == [.seconds(19), .seconds(39)])
    #expect(marks.failures == [.seconds(9), .seconds(29)])
  }

  @Test("RB-2: a recording without failures has no marks of failures")
  func noFailures() throws {
    let status = try player(Scene.bytes()).status(at: Scene.time(0))
    #expect(status.marks.failures == [] && status.marks.warnings.count == 2)
  }

  @Test("RB-2: after a fault of the recording, there are no marks")
  func faults() throws {
    var bytes = Self.bytes()
    let reader = try Scene.reader(bytes)
    let place = try #require(reader.warning(behind: 0)).offset
    for offset in place + 200..<place + 260 { bytes[offset] ^= 0xFF }
    var player = try player(bytes)
    player.perform(.step(59), at: Scene.time(0))
    let marks = player.status(at: Scene.time(0)).marks
    #expect(player.remark != nil)
    #expect(marks.failures == [.seconds(9)])
    #expect(marks.warnings.count <= 1)
  }

  @Test("JT-1: going to a time shows the state at that time", arguments: [0, 1, 20, 59])
  func goTo(seconds: Int) throws {
    var player = try player(Self.bytes())
    player.perform(.go(to: .seconds(seconds)), at: Scene.time(0))
    #expect(player.status(at: Scene.time(0)).position == .seconds(seconds))
    var total: Int?
    for case .update(let update) in player.takeMessages(for: .everything, at: Scene.time(0)) {
      total = update.queues.first?.counts.total
    }
    #expect(total == seconds + 1)
    #expect(player.clock.isRunning)
  }

  @Test("JT-1: a time outside the recording is its beginning or its end")
  func outside() throws {
    var player = try player(Self.bytes())
    player.perform(.go(to: .seconds(3_600)), at: Scene.time(0))
    #expect(player.status(at: Scene.time(0)).position == .seconds(59))
    player.perform(.go(to: .seconds(-5)), at: Scene.time(0))
    #expect(player.status(at: Scene.time(0)).position == .zero)
  }

  @Test("TL-1: the runs of a replay have kinds")
  func kinds() throws {
    var player = try player(Self.bytes())
    player.perform(.go(to: .seconds(20)), at: Scene.time(0))
    var interest = Interest()
    interest.timeline = .init(window: .seconds(10), limit: 100)
    var kinds: Set<String?> = []
    for case .update(let update) in player.takeMessages(for: interest, at: Scene.time(0)) {
      kinds.formUnion(update.runs?.runs.map(\.kind) ?? [])
    }
    #expect(kinds == ["Tile"])
  }
}
