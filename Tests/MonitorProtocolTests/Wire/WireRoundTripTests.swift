// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite struct WireRoundTripTests {
  private func roundTrip(_ message: ViewerMessage) throws -> ViewerMessage {
    try ViewerMessage(decoding: message.encoded())
  }

  private func roundTrip(_ message: ProcessMessage) throws -> ProcessMessage {
    try ProcessMessage(decoding: message.encoded())
  }

  private func roundTrip(_ update: Update) throws -> Update? {
    var assembler = UpdateAssembler()
    var whole: Update?
    for frame in UpdateParts(update) {
      #expect(whole == nil)
      guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else { return nil }
      whole = try assembler.take(part)
    }
    return whole
  }

  @Test func aGreetingOfAViewerArrivesUnchanged() throws {
    for hello in [WireSamples.viewerHello, ViewerHello(processID: 0, isReadOnly: false)] {
      #expect(try roundTrip(.hello(hello)) == .hello(hello))
    }
  }

  @Test func aGreetingOfAProcessArrivesUnchanged() throws {
    let plain = Hello(
      processName: "", processID: 0, isReadOnly: false, anchor: WireSamples.time(0),
      anchorSecondsSince1970: 0, processStarted: WireSamples.time(0))
    for hello in [WireSamples.hello, plain] {
      let message = ProcessMessage.hello(hello, versions: .init(major: 3, minor: 4))
      #expect(try roundTrip(message) == message)
    }
  }

  @Test func anInterestArrivesUnchanged() throws {
    var reversed = Interest(rowLimit: 0)
    reversed.warningKinds = []
    reversed.filter = try OperationFilter("")
    for interest in [try WireSamples.interest(), Interest(), .everything, reversed] {
      let message = ViewerMessage.watch(interest, interval: .milliseconds(250))
      #expect(try roundTrip(message) == message)
    }
  }

  @Test func everyColumnArrivesUnchanged() throws {
    for column in SortOrder.Column.allCases {
      let message = ViewerMessage.watch(
        Interest(order: SortOrder(by: column)), interval: .seconds(1))
      #expect(try roundTrip(message) == message)
    }
  }

  @Test("An operation that was found executing arrives with that time, if its start is unknown")
  func foundOperationsArriveUnchanged() throws {
    var update = WireSamples.update
    update.changed.append(WireSamples.executing)
    #expect(try roundTrip(update) == update)
    for state in [OperationState.waiting, .cancelling, .finished] {
      update.changed[update.changed.count - 1].state = state
      #expect(try roundTrip(update)?.changed.last?.foundExecuting == nil)
    }
  }

  @Test(
    "A run has its kind, which is not sent twice if it equals the title",
    arguments: [nil, "GET", "", "a"])
  func kindsOfRunsArriveUnchanged(kind: String?) throws {
    var update = Update(time: WireSamples.time(1))
    var run = WireSamples.run
    run.kind = kind
    update.runs = RecentRuns(runs: [run])
    // An empty kind has the meaning of an unknown one.
    #expect(try roundTrip(update)?.runs?.runs.first?.kind == (kind == "" ? nil : kind))
    let long = String(repeating: "k", count: 500)
    (run.title, run.kind) = (long, long)
    update.runs?.runs[0] = run
    #expect(Array(UpdateParts(update)).joined().count < 600)
    #expect(try roundTrip(update) == update)
  }

  @Test(
    "Groups by queue arrive unchanged, and groups without operations differ from missing groups")
  func groupsArriveUnchanged() throws {
    var update = Update(time: WireSamples.time(1))
    #expect(try roundTrip(update)?.groups == nil)
    for by in OperationGroups.By.allCases {
      update.groups = OperationGroups(by: by)
      #expect(try roundTrip(update) == update)
    }
    update.groups = OperationGroups(
      by: .queue, groups: [.init(key: .queue(.init(.max)), times: WireSamples.times)],
      otherCount: 1 << 40)
    #expect(try roundTrip(update) == update)
  }

  @Test("Each quality of service arrives with its operation, also if only some operations have one")
  func qualitiesArriveUnchanged() throws {
    var update = Update(time: WireSamples.time(1))
    for (index, quality) in (OperationQualityOfService.allCases + [.utility]).enumerated() {
      var report = OperationReport(
        id: .init(UInt64(index)), name: "", className: "", queue: .init(0), state: .ready)
      report.qualityOfService = quality
      update.changed.append(report)
    }
    #expect(try roundTrip(update) == update)
  }

  @Test("A queue without times differs from a queue whose times are unknown")
  func timesOfQueuesArriveUnchanged() throws {
    var queue = QueueReport(id: .init(1), name: "cpu")
    for times in [nil, TimeStatistics(), WireSamples.times] {
      for count in [nil, 0, 1 << 40] {
        (queue.times, queue.startedCount) = (times, count)
        let update = Update(time: WireSamples.time(1), queues: [queue])
        #expect(try roundTrip(update) == update)
      }
    }
  }

  @Test(arguments: WireSamples.commands)
  func aCommandArrivesUnchanged(_ command: MonitorCommand) throws {
    let message = ViewerMessage.command(command, token: .max)
    #expect(try roundTrip(message) == message)
  }

  @Test func otherViewerMessagesArriveUnchanged() throws {
    for message: ViewerMessage in [
      .credit(1), .credit(64), .ping(0), .ping(.max), .bye(reason: ""), .bye(reason: "quit"),
      .unknown,
    ] {
      #expect(try roundTrip(message) == message)
    }
  }

  @Test func otherProcessMessagesArriveUnchanged() throws {
    for message: ProcessMessage in [
      .commandResult(token: 0, outcomes: [], dependents: []),
      .commandResult(
        token: .max, outcomes: [.requested, .alreadyFinished, .unknown, .denied],
        dependents: WireSamples.ids(1, 2)),
      .commandResult(
        token: 7, outcomes: [.requested, .notRetryable, .denied, .requested, .notRetryable],
        dependents: [], refusals: WireSamples.refusals),
      .pong(0), .pong(.max), .unknown,
    ] {
      #expect(try roundTrip(message) == message)
    }
  }

  @Test func everyFarewellArrivesUnchanged() throws {
    for cause: Farewell.Cause in [
      .processEnds, .versionMismatch, .tooManyViewers, .malformedMessage, .unknown,
    ] {
      let message = ProcessMessage.bye(
        Farewell(cause: cause, reason: "a reason", versions: .init(major: 9, minor: 8)))
      #expect(try roundTrip(message) == message)
    }
  }

  @Test func anUpdateArrivesUnchanged() throws {
    for update in [WireSamples.update, Update(time: WireSamples.time(0))] {
      #expect(try roundTrip(update) == update)
    }
  }

  @Test func emptyAnswersDifferFromMissingAnswers() throws {
    var update = Update(time: WireSamples.time(1), dependents: Dependents(subjects: []))
    update.events = EventNews()
    update.runs = RecentRuns()
    update.rootCount = 0
    update.detail = OperationDetail(id: .init(0))
    #expect(try roundTrip(update) == update)
  }

  @Test func everyStateAndPriorityArrivesUnchanged() throws {
    var update = Update(time: WireSamples.time(1))
    for (index, state) in OperationState.allCases.enumerated() {
      for priority in OperationPriority.allCases {
        update.changed.append(
          OperationReport(
            id: .init(UInt64(index)), name: "", className: "", queue: .init(0), state: state,
            priority: priority))
      }
    }
    update.events = EventNews(
      events: OperationState.allCases.flatMap { new in
        // An operation that has failed never changes its state, so a message has no word for it here.
        (OperationState.allCases.filter { $0 != .failed } + [nil]).map { old in
          OperationEvent(
            time: WireSamples.time(0), operation: .init(0), title: "", queue: .init(0), old: old,
            new: new)
        }
      })
    #expect(try roundTrip(update) == update)
  }

  @Test func allKindsOfWarningsReasonsAndQualitiesArriveUnchanged() throws {
    for qualityOfService in OperationQualityOfService.allCases {
      var update = Update(time: WireSamples.time(1))
      update.warnings = MonitorWarning.Kind.allCases.map { MonitorWarning(kind: $0) }
      update.detail = OperationDetail(
        id: .init(1), qualityOfService: qualityOfService,
        reasons: OperationDetail.Reason.Kind.allCases.map { .init(kind: $0, sentence: "\($0)") })
      #expect(try roundTrip(update) == update)
      var interest = Interest()
      interest.warningKinds = Set(MonitorWarning.Kind.allCases)
      let message = ViewerMessage.watch(interest, interval: .seconds(1))
      #expect(try roundTrip(message) == message)
    }
  }
}
