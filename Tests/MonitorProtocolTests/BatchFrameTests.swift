// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import Testing

@Suite struct BatchFrameTests {
  private let hello = Hello(
    processName: "demo\u{1B}[2J", processID: 4711, isReadOnly: false,
    anchor: MonitorTime(nanoseconds: 5_000_000_000), anchorSecondsSince1970: 1_700_000_000.25,
    processStarted: MonitorTime(nanoseconds: 1))

  private var queues: [QueueReport] {
    [
      QueueReport(
        id: .init(2), name: "net", counts: StateCounts(ready: 1, held: 1, total: 1),
        isSuspended: true),
      QueueReport(
        id: .init(1), name: "cpu",
        counts: StateCounts(waiting: 1, executing: 1, cancelling: 1, total: 2), width: 2),
    ]
  }

  private var frame: BatchFrame {
    let second = MonitorTime(nanoseconds: 6_000_000_000)
    return BatchFrame(
      hello: hello, time: MonitorTime(nanoseconds: 7_500_000_000), queues: queues,
      operations: [
        OperationReport(
          id: .init(9), name: "merge", className: "Merge", queue: .init(1), state: .waiting,
          priority: .high, dependencies: [.init(3), .init(4)], unmetDependencyCount: 1),
        OperationReport(
          id: .init(4), name: "tile", className: "Tile", queue: .init(1), state: .cancelling,
          started: MonitorTime(nanoseconds: 1), cancelRequested: second),
      ],
      warnings: [
        MonitorWarning(
          kind: .suspendedWithReady, queue: .init(2), count: 1,
          since: MonitorTime(nanoseconds: 6_250_000_000)),
        MonitorWarning(kind: .cycle, operations: [.init(9), .init(4)]),
      ], lostChanges: 3)
  }

  @Test("The times and the starts of queues are not a part of the encoded frame")
  func queuesAreEncodedAsBefore() throws {
    let plain = QueueReport(
      id: .init(1), name: "cpu", width: 2, startLimit: .init(count: 5, periodSeconds: 1))
    var full = plain
    full.times = TimeStatistics(
      wait: Percentiles(count: 1, p50: .zero, p90: .zero, p99: .zero))
    full.startedCount = 7
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(full)
    #expect(try encoder.encode(plain) == data)
    #expect(try JSONDecoder().decode(QueueReport.self, from: data) == plain)
  }

  @Test func countsAreTheSumOfAllQueues() {
    #expect(frame.counts.isConsistent)
    #expect(frame.counts.total == 3)
    #expect(frame.counts.held == 1)
  }

  @Test("An operation has its kind, which is its class if the program has set no kind")
  func kinds() {
    var report = OperationReport(
      id: .init(1), name: "", className: "Job", queue: .init(1), state: .ready)
    func kind() -> String? {
      BatchFrame(
        hello: hello, time: hello.anchor, queues: queues, operations: [report], lostChanges: 0
      ).operations.first?.kind
    }
    #expect(kind() == "Job")
    report.givenKind = "hash"
    #expect(kind() == "hash")
  }

  @Test("A retry has its attempts, with the last error, and other operations have none")
  func attempts() throws {
    var report = OperationReport(
      id: .init(1), name: "", className: "Retry", queue: .init(1), state: .executing)
    func operation() throws -> BatchFrame.Operation {
      let frame = BatchFrame(
        hello: hello, time: MonitorTime(nanoseconds: 3_000_000_005), queues: queues,
        operations: [report], lostChanges: 0)
      let text = try JSONEncoder().encode(frame)
      #expect(
        String(decoding: text, as: UTF8.self).contains("attempts") == (report.attempts != nil))
      return try #require(try JSONDecoder().decode(BatchFrame.self, from: text).operations.first)
    }
    #expect(try operation().attempts == nil)
    report.attempts = WireSamples.attempts
    let attempts = try #require(try operation().attempts)
    #expect(attempts.map(\.number) == [2, 3, 4, 5, 6])
    #expect(attempts.map(\.state) == [.failed, .cancelled, .finished, .executing, .cancelling])
    #expect(attempts.map(\.error) == ["timed out", nil, nil, nil, nil])
    #expect(attempts.map(\.id.rawValue) == [72, 73, 74, 75, 76])
    #expect(attempts.map(\.seconds) == [0, 0, 0, 3, 2.999])
  }

  /// Returns the operation as a viewer decodes it from a frame.
  private func decoded(_ report: OperationReport) throws -> BatchFrame.Operation {
    let frame = BatchFrame(
      hello: hello, time: MonitorTime(nanoseconds: 3_000_000_005), queues: queues,
      operations: [report], lostChanges: 0)
    let text = try JSONEncoder().encode(frame)
    return try #require(try JSONDecoder().decode(BatchFrame.self, from: text).operations.first)
  }

  @Test("The progress and the status are in the frame, and a group has the progress of its members")
  func progress() throws {
    var report = OperationReport(
      id: .init(1), name: "", className: "Job", queue: .init(1), state: .executing)
    #expect(try decoded(report).progress == nil && decoded(report).status == nil)
    report.memberQueue = queues[0].id
    let counts = queues[0].counts
    #expect(try decoded(report).progress?.total == counts.total)
    #expect(try decoded(report).progress?.completed == counts.finished + counts.cancelled)
    report.progress = WireSamples.operation.progress
    report.statusText = "parsing"
    #expect(try decoded(report).progress?.numbers == "\(1 << 50)/\(1 << 51)")
    #expect(try decoded(report).status == "parsing")
  }

  @Test(
    "The time left of a delay is in the frame", arguments: [(7_000_000_005, 4), (2_000_000_000, 0)])
  func delay(end: Int64, left: Double) throws {
    var report = OperationReport(
      id: .init(1), name: "", className: "Job", queue: .init(1), state: .waiting)
    #expect(try decoded(report).delay == nil)
    report.delayEnd = MonitorTime(nanoseconds: end)
    #expect(try decoded(report).delay == left)
  }

  @Test func queuesAndOperationsAreInTheOrderOfTheirIds() {
    #expect(frame.queues.map(\.name) == ["cpu", "net"])
    #expect(frame.operations.map(\.id.rawValue) == [4, 9])
  }

  @Test func theTimeOfDayIsComputedFromTheAnchor() {
    #expect(frame.time.wallClock == "2023-11-14T22:13:22.750Z")
    #expect(frame.time.monotonic.nanoseconds == 7_500_000_000)
  }

  @Test(
    "A frame can be made with any time of day from the process",
    arguments: [Double.infinity, .nan, 1e300, -1e300, 1e18])
  func anyTimeOfDayIsTaken(seconds: Double) {
    var hello = hello
    hello.anchorSecondsSince1970 = seconds
    let frame = BatchFrame(
      hello: hello, time: hello.anchor, queues: [], operations: [], lostChanges: 0)
    #expect(frame.time.wallClock.hasSuffix("Z"))
  }

  @Test func theAgeOfAStateBeginsAtItsEntry() {
    #expect(frame.operations[0].secondsInState == 1.5)
    #expect(frame.operations[1].secondsInState == nil)
  }

  @Test func theTimeOfAFinishedOperationIsItsRunTime() {
    let second = MonitorTime(nanoseconds: 1_000_000_000)
    let reports = [
      OperationReport(
        id: .init(1), name: "", className: "A", queue: .init(1), state: .finished, added: second,
        started: second, finished: second + .milliseconds(1_250)),
      OperationReport(
        id: .init(2), name: "", className: "A", queue: .init(1), state: .cancelled, added: second,
        finished: second),
    ]
    let frame = BatchFrame(
      hello: hello, time: second + .seconds(5), queues: queues, operations: reports, lostChanges: 0)
    #expect(frame.operations.map(\.seconds) == [1.25, nil])
    #expect(frame.operations.map(\.secondsInState) == [3.75, 5])
  }

  @Test func theJSONHasTheDocumentedNamesAndTypes() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = String(decoding: try encoder.encode(frame), as: UTF8.self)
    for part in [
      #""schema":"opq.frame/1""#, #""process":{"name":"demo\u001b[2J","pid":4711}"#,
      #""time":{"monotonic":7500000000,"wallClock":"2023-11-14T22:13:22.750Z"}"#,
      #""counts":{"cancelled":0,"cancelling":1,"executing":1,"failed":0,"finished":0,"held":1,"ready":1,"#
        + #""total":3,"waiting":1}"#,
      #"{"class":"Tile","dependencies":[],"id":4,"kind":"Tile","name":"tile","priority":0,"queue":"cpu","#
        + #""seconds":1.5,"secondsInState":1.5,"state":"cancelling","unmet":0}"#,
      #""warnings":[{"awaited":[],"count":1,"kind":"suspended-with-ready","operations":[],"#
        + #""queue":"net","seconds":1.25},"#
        + #"{"awaited":[],"count":0,"kind":"cycle","operations":[9,4]}]"#,
      #""dependencies":[3,4]"#, #""lostChanges":3"#, #""isSuspended":true"#,
    ] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
    #expect(!text.contains("\n"))
    let again = try JSONDecoder().decode(BatchFrame.self, from: Data(text.utf8))
    #expect(again == frame)
  }
}
