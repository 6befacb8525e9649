// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests that every field of the values in messages is encoded. If a new field is not encoded, one
/// of these tests fails, or the test that encodes and decodes ``WireSamples``.
@Suite struct WireFieldTests {
  private static let zero = WireSamples.time(0)
  /// Fields that only a viewer sets, and that are not part of messages.
  private static let viewerFields = [
    "Group.lacksEnds", "Hello.canHold", "Hello.host", "Hello.sendsQueueDetails",
    "MonitorWarning.process", "OperationGroups.countingProcessCount", "RunOrder.isEstimated",
    "Update.processes",
  ]

  /// Returns each sample value together with a value of the same type that has as few contents as
  /// possible.
  private static func pairs() throws -> [(sample: Any, plain: Any)] {
    let percentiles = Percentiles(count: 0, p50: .zero, p90: .zero, p99: .zero)
    let plainOperation = OperationReport(
      id: .init(0), name: "", className: "", queue: .init(0), state: .waiting)
    let interest = try WireSamples.interest()
    var plainInterest = Interest()
    plainInterest.warningKinds = []
    let update = WireSamples.update
    let none = ProtocolVersions(major: 0, minor: 0)
    return [
      (WireSamples.hello, plainHello), (update, Update(time: zero)),
      (
        WireSamples.viewerHello,
        ViewerHello(versions: none, processID: 0, isReadOnly: false)
      ),
      (interest, plainInterest), (interest.order, SortOrder(by: .id)),
      (
        Interest.Graph(root: .init(9), direction: .waitsFor, limit: 300),
        Interest.Graph(root: .init(0), direction: .blocks, limit: 0)
      ),
      (interest.timeline as Any, Interest.Timeline(window: .zero, limit: 0)),
      (WireSamples.queue, QueueReport(id: .init(0), name: "")),
      (WireSamples.queue.counts, StateCounts()), (WireSamples.operation, plainOperation),
      (
        WireSamples.operation.cancelRequester as Any, CommandOrigin(processID: 0, userID: 0)
      ),
      (update.dependents as Any, Dependents(subjects: [])), (update.events as Any, EventNews()),
      (
        WireSamples.event,
        OperationEvent(
          time: zero, operation: .init(0), title: "", queue: .init(0), old: nil, new: .waiting)
      ),
      (update.runs as Any, RecentRuns()),
      (
        WireSamples.run,
        OperationRun(
          id: .init(0), title: "", queue: .init(0), state: .executing, started: zero)
      ),
      (WireSamples.warning, MonitorWarning(kind: .cycle)), (WireSamples.times, TimeStatistics()),
      (WireSamples.times.run as Any, percentiles),
      (WireSamples.detail, OperationDetail(id: .init(0))),
      (
        OperationLog(of: .init(7), first: 1, lines: WireSamples.log.lines, mayBeDropped: true),
        OperationLog(of: .init(0))
      ), (WireSamples.log.lines[0], LogLine(time: zero, level: .info, text: "")),
      (
        WireSamples.detail.reasons[0],
        OperationDetail.Reason(kind: .notInQueue, sentence: "")
      ), (WireSamples.runOrder, RunOrder(queue: .init(0))),
      (WireSamples.groups, OperationGroups(by: .queue)),
      (WireSamples.group, OperationGroups.Group(key: .queue(.init(0)))),
      (interest.runOrder as Any, Interest.RunOrderRequest(limit: 0)),
      (interest.groups as Any, Interest.GroupsRequest(by: .kind, limit: 0)),
      (
        Farewell(cause: .processEnds, reason: "a", versions: .init(major: 9, minor: 8)),
        Farewell(cause: .unknown, reason: "", versions: none)
      ), (ProtocolVersions(major: 9, minor: 8), none),
    ]
  }

  private static var plainHello: Hello {
    Hello(
      processName: "", processID: 0, isReadOnly: false, anchor: zero, anchorSecondsSince1970: 0,
      processStarted: zero)
  }

  /// Returns the names and the contents of a value's fields.
  private func fields(_ value: Any) -> [(name: String, content: String)] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional {
      return mirror.children.first.map { fields($0.value) } ?? []
    }
    return mirror.children.map { ($0.label ?? "", String(reflecting: $0.value)) }
  }

  @Test func everyFieldOfTheSamplesHasAnotherValueThanByDefault() throws {
    for (sample, plain) in try Self.pairs() {
      let fields = fields(sample)
      #expect(!fields.isEmpty)
      for (field, other) in zip(fields, self.fields(plain))
      where !Self.viewerFields.contains("\(type(of: plain)).\(field.name)") {
        #expect(
          field.content != other.content,
          """
          \(type(of: plain)).\(field.name) is as by default in WireSamples: give it another value \
          there, and a field in monitor.proto and in \(type(of: plain))+Wire.swift or beside it
          """)
      }
    }
  }
}
