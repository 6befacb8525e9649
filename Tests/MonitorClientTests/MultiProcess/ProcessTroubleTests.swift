// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("A silent, ended or faulty process among several")
struct ProcessTroubleTests {
  private typealias ID = OperationReport.ID

  // MARK: A process that never reports

  @Test func aProcessWithoutUpdatesDelaysTheOthersOnlyBriefly() {
    var scene = MergeScene(count: 2)
    for number in 1...2 { scene.greet(number) }
    _ = scene.take()
    let begin = scene.now + ProcessMerge.patience
    scene.now = scene.now + .milliseconds(1)
    scene.report(1, [.executing(7)])
    #expect(scene.updates(in: scene.take()).isEmpty)
    #expect(scene.merge.deadline(after: scene.now) == begin)
    scene.now = begin
    let updates = scene.updates(in: scene.take())
    #expect(updates.map { $0.changed.map(\.id) } == [[scene.id(1, 7)]])
    #expect(scene.merge.deadline(after: scene.now) == nil)
    scene.report(1, [.executing(8)])
    #expect(scene.updates(in: scene.take()).count == 1)
  }

  @Test func eventsDoNotWaitForAProcessWithoutUpdates() {
    var scene = MergeScene(count: 2)
    for number in 1...2 { scene.greet(number) }
    _ = scene.take()
    _ = scene.merge.watch(MergeScene.everything, at: scene.now)
    var update = MergeScene.update([], at: scene.now)
    update.events = EventNews(
      events: [
        OperationEvent(
          time: scene.now, operation: ID(7), title: "", queue: .init(1), old: nil, new: .waiting)
      ], isBeginning: true)
    scene.say(1, .update(update))
    scene.now = scene.now + ProcessMerge.patience
    let reported = scene.updates(in: scene.take()).first
    #expect(reported?.events?.events.map(\.operation) == [scene.id(1, 7)])
  }

  @Test func withoutUpdatesTheTimeIsNow() {
    var scene = MergeScene(count: 2)
    for number in 1...2 { scene.greet(number) }
    _ = scene.take()
    for number in 1...2 { scene.say(number, .silent(for: .seconds(3))) }
    #expect(scene.updates(in: scene.take()).map(\.time) == [scene.now])
  }

  // MARK: Another clock

  @Test("A process's clock does not change the times of the others")
  func clockAhead() {
    var scene = MergeScene.heard(2)
    scene.say(2, .update(MergeScene.update([], at: scene.now + .seconds(2_000_000_000))))
    let reported = scene.updates(in: scene.take()).first
    #expect(reported?.time == scene.now)
    #expect(reported?.processes.map(\.lastUpdate) == [scene.now, scene.now])
  }

  @Test func theTimeOfDayIsTheViewersTime() {
    var scene = MergeScene(count: 2)
    scene.greet(1, secondsSince1970: 4_000_000_000)
    scene.greet(2)
    let hello = scene.hello(in: scene.take())
    #expect(hello?.anchor == scene.now && hello?.anchorSecondsSince1970 == 43_200)
  }

  // MARK: A process that has ended

  @Test func anEndedProcessCountsOnlyFinishedAndCancelledOperations() throws {
    var scene = MergeScene.heard(2)
    for number in 1...2 {
      var update = MergeScene.update([], at: scene.now)
      update.queues[0].counts = StateCounts(
        waiting: 4, ready: 3, held: 1, executing: 2, cancelling: 1, finished: 5, cancelled: 6,
        total: 20)
      scene.say(number, .update(update))
    }
    scene.say(2, .ended(reason: "the process has exited"))
    let update = try #require(scene.updates(in: scene.take()).first)
    let over = StateCounts(finished: 5, cancelled: 6, total: 11)
    #expect(update.processes.map(\.counts) == update.queues.map(\.counts))
    #expect(update.queues[0].counts.total == 20 && update.queues[1].counts == over)
    #expect(over.isConsistent)
  }

  @Test(
    "The reason why a process sends nothing more is kept",
    arguments: ["replaced by another process", "denied"])
  func reason(_ reason: String) {
    var scene = MergeScene.heard(2)
    scene.say(2, .ended(reason: reason))
    #expect(scene.updates(in: scene.take()).first?.processes[1].endedReason == reason)
  }

  @Test(
    "Runs of an ended process end with it, and disappear with the window",
    arguments: [true, false])
  func runs(hasEnded: Bool) throws {
    var scene = MergeScene.heard(2)
    let start = scene.now
    _ = scene.merge.watch(MergeScene.everything, at: scene.now)
    for number in 1...2 {
      var update = MergeScene.update([], at: start)
      update.runs = RecentRuns(
        runs: [
          OperationRun(
            id: ID(1), title: "", queue: .init(1), state: .executing,
            started: start - .seconds(5))
        ], count: 4)
      scene.say(number, .update(update))
    }
    scene.say(
      2, hasEnded ? .ended(reason: "the process has exited") : .disconnected(reason: "reset"))
    let reported = try #require(scene.updates(in: scene.take()).first?.runs)
    #expect(reported.runs.map(\.finished) == [nil, start])
    #expect(reported.count == 8)
    scene.now = start + .seconds(61)
    var update = MergeScene.update([], at: scene.now)
    update.runs = RecentRuns(runs: [], count: 0)
    scene.say(1, .update(update))
    let later = try #require(scene.updates(in: scene.take()).first?.runs)
    #expect(later == RecentRuns(runs: [], count: 0))
  }

  // MARK: Facts that a name does not contain

  @Test func aSharedClassHasTheTimesOfTheShownOperation() {
    var scene = MergeScene.heard(2)
    func times(_ seconds: Int, count: Int) -> TimeStatistics {
      let one = Duration.seconds(seconds)
      return TimeStatistics(
        wait: nil, run: Percentiles(count: count, p50: one, p90: one, p99: one))
    }
    let own = [times(1, count: 900), times(2, count: 3)]
    for number in 1...2 {
      var update = MergeScene.update([], at: scene.now)
      update.kindTimes = ["Job": own[number - 1], "Own\(number)": own[number - 1]]
      scene.say(number, .update(update))
    }
    let reported = scene.updates(in: scene.take()).first
    #expect(reported?.kindTimes == ["Own1": own[0], "Own2": own[1]])
    var interest = Interest()
    interest.detail = scene.id(2, 7)
    _ = scene.merge.watch(interest, at: scene.now)
    let alone = scene.updates(in: scene.take()).first
    #expect(alone?.kindTimes == ["Job": own[1], "Own1": own[0], "Own2": own[1]])
  }

  @Test func aWarningWithoutIDsNamesItsProcess() {
    var scene = MergeScene.heard(2)
    var update = MergeScene.update([], at: scene.now)
    update.warnings = [MonitorWarning(kind: .historyLost, count: 3)]
    scene.say(2, .update(update))
    #expect(scene.updates(in: scene.take()).first?.warnings.map(\.process) == [2])
  }

  // MARK: Kept state

  @Test func anUnchangedFilterIsNotAwaited() throws {
    var scene = MergeScene.heard(2)
    func watch(_ filter: String) throws -> [Int] {
      var interest = MergeScene.everything
      interest.filter = try OperationFilter(filter)
      return scene.merge.watch(interest, at: scene.now).map(\.process)
    }
    func begin(_ number: Int) {
      var update = MergeScene.update([], at: scene.now)
      update.events = EventNews(isBeginning: true)
      scene.say(number, .update(update))
    }
    #expect(try watch("2#7") == [1, 2])
    begin(1)
    begin(2)
    #expect(scene.updates(in: scene.take()).first?.events?.isBeginning == true)
    #expect(try watch("2#8") == [2])
    begin(2)
    #expect(scene.updates(in: scene.take()).first?.events?.isBeginning == true)
  }
}
