// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("Several processes as one, without sockets")
struct ProcessMergeTests {
  private typealias ID = OperationReport.ID

  // MARK: Greeting

  @Test func theGreetingWaitsForAllProcesses() {
    var scene = MergeScene(count: 2)
    scene.greet(1)
    scene.report(1, [.executing(7)])
    #expect(scene.take() == [])
    scene.greet(2)
    #expect(scene.hello(in: scene.take())?.processName == "2 processes")
  }

  @Test func theFirstUpdateWaitsForAllConnectedProcesses() {
    var scene = MergeScene(count: 3)
    for number in 1...3 { scene.greet(number) }
    scene.report(1, [.executing(7)])
    #expect(scene.updates(in: scene.take()).isEmpty)
    scene.report(2, [])
    #expect(scene.updates(in: scene.take()).isEmpty)
    // The third process does not answer. When this is known, the reports of the other processes are
    // no longer held back.
    scene.say(3, .silent(for: .seconds(2)))
    let updates = scene.updates(in: scene.take())
    #expect(updates.map { $0.changed.map(\.id) } == [[scene.id(1, 7)]])
  }

  @Test func theProcessesHaveOneGreeting() {
    var scene = MergeScene.heard(2)
    scene.say(1, .disconnected(reason: "reset"))
    scene.greet(1)
    scene.report(1, [])
    #expect(scene.hello(in: scene.take()) == nil)
  }

  @Test("The merge is read-only only if each process is", arguments: [(true, true), (true, false)])
  func readOnly(first: Bool, second: Bool) {
    var scene = MergeScene(count: 2)
    scene.greet(1, isReadOnly: first)
    scene.greet(2, isReadOnly: second)
    #expect(scene.hello(in: scene.take())?.isReadOnly == (first && second))
  }

  @Test(
    "RD-5: The merge can retry jobs if a process can",
    arguments: [(true, false), (false, true), (false, false)])
  func retry(first: Bool, second: Bool) {
    var scene = MergeScene(count: 2)
    scene.greet(1, canRetry: first)
    scene.greet(2, canRetry: second)
    #expect(scene.hello(in: scene.take())?.canRetry == (first || second))
  }

  // MARK: Ids

  @Test("Log lines have the ids of their process and the viewer's times, and arrive once")
  func logLines() throws {
    var scene = MergeScene.heard(2)
    var update = MergeScene.update([])
    func log(_ id: ID, _ first: UInt64, at time: MonitorTime) -> OperationLog {
      OperationLog(
        of: id, first: first, lines: [LogLine(time: time, level: .error, text: "\(first)")])
    }
    // The second log has an id that no process assigns.
    update.logs = [log(ID(7), 3, at: scene.now), log(scene.id(1, 7), 0, at: scene.now)]
    scene.say(2, .update(update))
    update.logs = [log(ID(7), 4, at: scene.now)]
    scene.say(2, .update(update))
    let arrived = try #require(scene.updates(in: scene.take()).first)
    #expect(arrived.logs.map(\.operation) == [scene.id(2, 7)])
    #expect(arrived.logs.first?.first == 3)
    #expect(arrived.logs.first?.lines.map(\.text) == ["3", "4"])
    scene.report(1, [.executing(1)])
    #expect(scene.updates(in: scene.take()).first?.logs == [])
  }

  @Test("Each process is asked for the log lines of its own operations")
  func logInterests() {
    var scene = MergeScene.heard(2)
    var interest = Interest()
    interest.logs = .operations([scene.id(1, 7), scene.id(2, 8), scene.id(2, 9)])
    let wishes = scene.merge.watch(interest, at: scene.now)
    #expect(
      wishes.map(\.interest.logs) == [.operations([ID(7)]), .operations([ID(8), ID(9)])])
    interest.logs = .all
    #expect(scene.merge.watch(interest, at: scene.now).map(\.interest.logs) == [.all, .all])
  }

  @Test func equalIDsOfTwoProcessesAreTwoOperations() throws {
    var scene = MergeScene.heard(2)
    scene.report(1, [.executing(1042)])
    scene.report(2, [.waiting(1042, for: 1041)])
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(update.changed.map { "\($0.id)" } == ["1#1042", "2#1042"])
    #expect(update.changed.map(\.queue) == update.queues.map(\.id))
    #expect(update.changed[1].dependencies.map { "\($0)" } == ["2#1041"])
  }

  @Test("The causes of cancellations name operations and queues of the same process")
  func causesOfTwoProcesses() throws {
    var scene = MergeScene.heard(2)
    let viewer = OperationReport.CancellationCause.viewer(
      CommandOrigin(processID: 123, userID: 1_000))
    let causes: [OperationReport.CancellationCause] = [
      .dependency(ID(7)), .container(ID(7)), .timeout(ID(7)), .queue(.init(1), reason: "a"), viewer,
      .dependency(scene.id(1, 7)),
    ]
    scene.report(
      2,
      causes.enumerated().map { index, cause in
        var report = OperationReport.waiting(10 + UInt64(index), for: 7)
        report.state = .cancelled
        report.cancellationCause = cause
        return report
      })
    let update = try #require(scene.updates(in: scene.take()).first)
    let id = scene.id(2, 7)
    let queue = try #require(update.changed.first?.queue)
    #expect(
      update.changed.map(\.cancellationCause) == [
        .dependency(id), .container(id), .timeout(id), .queue(queue, reason: "a"), viewer, nil,
      ])
  }

  @Test("Attempts of a retry have ids with the number of the process, and kinds stay the same")
  func attemptsAndKinds() throws {
    var scene = MergeScene.heard(2)
    var retry = OperationReport.executing(7)
    retry.givenKind = "download"
    let time = MonitorTime(nanoseconds: 5)
    retry.attempts = RetryAttempts(
      maximum: 3, number: 1,
      attempts: [
        .init(
          id: ID(8), number: 1, name: "a", kind: "fetch", state: .failed, started: time,
          finished: time)
      ], pauseEnd: time, lastFailure: .init(number: 1, text: "timed out"))
    scene.report(2, [retry])
    let update = try #require(scene.updates(in: scene.take()).first)
    let merged = try #require(update.changed.first)
    let attempts = try #require(merged.attempts)
    #expect(merged.kind == "download" && attempts.lastFailure == retry.attempts?.lastFailure)
    #expect(attempts.maximum == 3 && attempts.number == 1 && attempts.pauseEnd != nil)
    #expect(attempts.attempts.map { "\($0.id) \($0.title) \($0.state)" } == ["2#8 a failed"])
  }

  @Test("The end of a delay is a time of the viewer's clock")
  func delays() {
    var delayed = OperationReport.waiting(7, for: 8)
    delayed.delayEnd = MonitorTime(nanoseconds: 5_000)
    var update = MergeScene.update([delayed])
    update.time = MonitorTime(nanoseconds: 3_000)
    let translation = ProcessTranslation(number: 2, clockLead: .nanoseconds(1_000))
    #expect(translation.merged(update).changed.map(\.delayEnd) == [MonitorTime(nanoseconds: 4_000)])
  }

  @Test func aProcessCannotReportOperationsOfAnotherProcess() throws {
    var scene = MergeScene.heard(2)
    let foreign = scene.id(1, 7)
    var evil = OperationReport.waiting(8, for: foreign.rawValue)
    evil.dependencies.append(ID(9))
    let imitation = OperationReport(
      id: foreign, name: "evil", className: "Evil", queue: .init(1), state: .executing)
    let misplaced = OperationReport(
      id: ID(5), name: "evil", className: "Evil", queue: .init(foreign.rawValue), state: .executing)
    var update = MergeScene.update([evil, imitation, misplaced])
    update.queues.append(QueueReport(id: .init(foreign.rawValue), name: "evil"))
    update.removed = [foreign]
    update.events = EventNews(
      events: [
        OperationEvent(
          time: update.time, operation: foreign, title: "", queue: .init(1), old: nil, new: .waiting
        )
      ], isBeginning: true)
    update.runs = RecentRuns(
      runs: [
        OperationRun(
          id: foreign, title: "", queue: .init(1), state: .executing, started: update.time)
      ], count: 1)
    update.warnings = [MonitorWarning(kind: .cycle, operations: [foreign, ID(8)])]
    update.detail = OperationDetail(id: foreign)
    scene.report(1, [.executing(7)])
    _ = scene.take()
    _ = scene.merge.watch(MergeScene.everything, at: scene.now)
    scene.say(2, .update(update))
    let reported = try #require(scene.updates(in: scene.take()).first)
    #expect(reported.changed.map(\.id) == [scene.id(2, 8)])
    #expect(reported.changed[0].dependencies == [scene.id(2, 9)])
    #expect(reported.removed.isEmpty)
    #expect(reported.queues.allSatisfy { $0.name != "evil" })
    #expect(reported.warnings.map(\.operations) == [[scene.id(2, 8)]])
    #expect(reported.runs?.runs.isEmpty == true && reported.detail == nil)
  }

  // MARK: Times

  @Test func timesAreConvertedToTheViewersClock() throws {
    var scene = MergeScene(count: 2)
    scene.greet(1)
    // The second process runs on a machine that started an hour earlier, so its clock is an hour
    // ahead. Its update is one second newer than that of the first process.
    scene.now = scene.now + .seconds(1)
    let lead = Duration.seconds(3_600)
    scene.greet(2, bootID: "another machine", clockLead: lead)
    _ = scene.take()
    scene.report(1, [])
    var report = OperationReport.executing(5)
    report.started = scene.now + lead - .seconds(4)
    scene.say(2, .update(MergeScene.update([report], at: scene.now + lead)))
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(update.time == scene.now)
    #expect(update.changed.map(\.started) == [scene.now - .seconds(4)])
    #expect(update.processes.map(\.hello.anchor) == [scene.now - .seconds(1), scene.now])
  }

  // MARK: What changes

  @Test func anUpdateOfOneProcessKeepsTheLastCountsOfTheOthers() throws {
    var scene = MergeScene.heard(2)
    scene.report(1, [.executing(1), .executing(2)], lostChanges: 3)
    scene.report(2, [.executing(1)], lostChanges: 4)
    _ = scene.take()
    scene.report(2, [.waiting(2, for: 1)], removed: [1], lostChanges: 5)
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(update.changed.map(\.id) == [scene.id(2, 2)])
    #expect(update.removed == [scene.id(2, 1)])
    #expect(update.queues.map(\.counts.total) == [2, 1])
    #expect(update.matchCount == 3 && update.keptCount == 3)
    #expect(update.lostChanges == 8)
    #expect(update.processes.map(\.counts.total) == [2, 1])
    #expect(scene.take() == [])
  }

  @Test func theLastUpdateOfAProcessCounts() throws {
    var scene = MergeScene.heard(2)
    scene.report(1, [.executing(1), .executing(2)])
    scene.report(1, [.waiting(2, for: 3)], removed: [1])
    scene.report(1, [.executing(1)])
    scene.report(1, [], removed: [2])
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(update.changed.map(\.id) == [scene.id(1, 1)])
    #expect(update.removed == [scene.id(1, 2)])
  }

  @Test func warningsOfAllProcessesAreSortedByImportance() throws {
    var scene = MergeScene.heard(2)
    var first = MergeScene.update([.executing(1)])
    first.warnings = [MonitorWarning(kind: .slow, operations: [ID(1)])]
    var second = MergeScene.update([.executing(1)])
    second.warnings = [
      MonitorWarning(kind: .cycle, operations: [ID(1)]),
      MonitorWarning(kind: .slow, operations: [ID(1)]),
    ]
    scene.say(1, .update(first))
    scene.say(2, .update(second))
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(update.warnings.map(\.kind) == [.cycle, .slow, .slow])
    #expect(
      update.warnings.map(\.operations) == [[scene.id(2, 1)], [scene.id(1, 1)], [scene.id(2, 1)]])
  }

  // MARK: Lost and ended

  @Test func anEndedProcessKeepsItsLastState() throws {
    var scene = MergeScene.heard(3)
    scene.report(1, [.executing(1)])
    _ = scene.take()
    let end = scene.now + .seconds(9)
    scene.now = end
    scene.say(1, .ended(reason: "the process has exited"))
    // This message of the closed connection arrives late, and must have no effect.
    scene.say(1, .silent(for: .zero))
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(
      update.processes.map(\.connection) == [
        .ended(at: end, reason: "the process has exited"), .live, .live,
      ])
    #expect(update.removed.isEmpty && update.queues.map(\.id.processNumber) == [1, 2, 3])
    scene.report(2, [.executing(9)])
    #expect(scene.updates(in: scene.take()).first?.changed.map(\.id) == [scene.id(2, 9)])
    scene.say(2, .ended(reason: "the process has exited"))
    scene.say(3, .ended(reason: "the process has exited"))
    let last = scene.take()
    #expect(
      scene.updates(in: last).first?.processes.allSatisfy { $0.ended != nil } == true)
    #expect(last.last == .ended(reason: "all 3 processes have ended"))
    #expect(scene.take() == [])
  }

  @Test func warningsOfAnEndedProcessAreRemoved() throws {
    var scene = MergeScene.heard(2)
    var update = MergeScene.update([.executing(1)])
    update.warnings = [MonitorWarning(kind: .cycle, operations: [ID(1)])]
    scene.say(1, .update(update))
    #expect(scene.updates(in: scene.take()).first?.warnings.count == 1)
    scene.say(1, .ended(reason: "the process has exited"))
    #expect(scene.updates(in: scene.take()).first?.warnings.isEmpty == true)
  }

  @Test func aReconnectionReplacesTheStateOfOneProcess() throws {
    var scene = MergeScene.heard(2)
    scene.report(1, [.executing(1), .executing(2)])
    scene.report(2, [.executing(1)])
    _ = scene.take()
    scene.say(1, .disconnected(reason: "reset"))
    #expect(scene.updates(in: scene.take()).first?.processes[0].connection == .reconnecting)
    scene.greet(1)
    let greeted = try #require(scene.updates(in: scene.take()).first)
    #expect(greeted.processes[0].connection == .live)
    // After the process is connected again, its old state stays visible until its next update
    // arrives.
    #expect(greeted.removed.isEmpty && greeted.queues[0].counts.total == 2)
    scene.report(1, [.executing(2), .executing(3)])
    let update = try #require(scene.updates(in: scene.take()).first)
    #expect(update.changed.map(\.id) == [scene.id(1, 2), scene.id(1, 3)])
    #expect(update.removed == [scene.id(1, 1)])
  }

  @Test func aProcessIsReportedAsSilentUntilItAnswers() {
    var scene = MergeScene.heard(2)
    scene.say(2, .silent(for: .seconds(3)))
    let silent = scene.updates(in: scene.take())
    #expect(silent.first?.processes.map(\.connection) == [.live, .silent(for: .seconds(3))])
    scene.say(2, .silent(for: .zero))
    let heard = scene.updates(in: scene.take())
    #expect(heard.first?.processes.map(\.connection) == [.live, .live])
  }
}
