// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol
@testable import MonitorClient

@Suite struct ProcessConversationTests {
  private let hello = Hello(
    processName: "service", processID: 7, isReadOnly: false, anchor: MonitorTime(nanoseconds: 1),
    anchorSecondsSince1970: 0, processStarted: MonitorTime(nanoseconds: 0))

  private func greeted() -> ProcessConversation {
    var conversation = ProcessConversation()
    _ = conversation.take(.hello(hello, versions: .current))
    _ = conversation.grant(2)
    return conversation
  }

  private func failure(_ actions: [ProcessConversation.Action]) -> AttachError? {
    if case .fail(let error) = actions.last { error } else { nil }
  }

  @Test(
    "A greeting with this major version is accepted, whatever its minor version; another is refused"
  )
  func versions() {
    let newer = ProtocolVersions(
      major: ProtocolVersions.current.major, minor: ProtocolVersions.current.minor + 3)
    var conversation = ProcessConversation()
    #expect(
      conversation.take(.hello(hello, versions: newer)) == [.greeted(hello, versions: newer)])
    var other = ProcessConversation()
    let error = failure(
      other.take(.hello(hello, versions: ProtocolVersions(major: 8, minor: 0))))
    #expect(error?.kind == .versionMismatch)
    #expect(
      error?.description
        == "the process uses version 8.0 of the protocol, and this opq-top uses \(ProtocolVersions.current)"
    )
  }

  @Test("The greeting says whether the process knows run orders and groups", arguments: [3, 4, 5])
  func queueDetails(minor: UInt32) {
    let versions = ProtocolVersions(major: ProtocolVersions.current.major, minor: minor)
    var expected = hello
    expected.sendsQueueDetails = minor >= 4
    var conversation = ProcessConversation()
    #expect(
      conversation.take(.hello(hello, versions: versions))
        == [.greeted(expected, versions: versions)])
  }

  @Test("A process of an earlier version receives a filter without words that it refuses")
  func filtersForEarlierVersions() throws {
    let filter = try OperationFilter("tiles !state:failed|state:succeeded")
    for (minor, text) in [
      (0, "tiles !#0|state:finished"), (1, "tiles !#0|state:finished"), (2, filter.text),
    ] {
      var conversation = ProcessConversation()
      _ = conversation.take(
        .hello(hello, versions: ProtocolVersions(major: 1, minor: UInt32(minor))))
      var expected = Interest(filter: filter)
      expected.filter = try OperationFilter(text)
      #expect(
        conversation.watch(Interest(filter: filter), interval: .seconds(1))
          == [.send(.watch(expected, interval: .seconds(1)))])
    }
  }

  @Test(
    "A process before version 1.4 sorts by state instead of by position",
    arguments: [0, 2, 3] as [UInt32])
  func positionsForEarlierVersions(minor: UInt32) throws {
    var conversation = ProcessConversation()
    _ = conversation.take(.hello(hello, versions: ProtocolVersions(major: 1, minor: minor)))
    let order = SortOrder(by: .position, isReversed: true)
    let earlier = Interest(order: SortOrder(by: .state, isReversed: true))
    #expect(
      conversation.watch(Interest(order: order), interval: .seconds(1))
        == [.send(.watch(earlier, interval: .seconds(1)))])
    #expect(
      greeted().watch(Interest(order: order), interval: .seconds(1))
        == [.send(.watch(Interest(order: order), interval: .seconds(1)))])
  }

  @Test("A message at the wrong moment ends the connection in a sentence")
  func order() {
    var early = ProcessConversation()
    #expect(failure(early.take(.pong(1)))?.kind == .lost)
    var twice = greeted()
    #expect(failure(twice.take(.hello(hello, versions: .current)))?.kind == .lost)
    var unknown = ProcessConversation()
    #expect(unknown.take(.unknown) == [])
  }

  @Test("The end of the process is reported to the viewer, and other farewells with their status")
  func farewells() {
    var ends = greeted()
    #expect(
      ends.take(.bye(Farewell(cause: .processEnds, reason: "it stopped listening")))
        == [.deliver(.ended(reason: "it stopped listening"))])
    var full = ProcessConversation()
    #expect(
      failure(full.take(.bye(Farewell(cause: .tooManyViewers, reason: "full"))))?.status == 5)
    var old = ProcessConversation()
    let versions = ProtocolVersions(major: 2, minor: 5)
    let farewell = Farewell(cause: .versionMismatch, reason: "", versions: versions)
    #expect(failure(old.take(.bye(farewell)))?.kind == .versionMismatch)
  }

  @Test("A result is passed on with its command, and a result without a command is not")
  func results() {
    var conversation = greeted()
    let command = MonitorCommand.cancel([.init(3)])
    #expect(conversation.give(command) == [.send(.command(command, token: 1))])
    let other = MonitorCommand.setSuspended(.init(1), true)
    #expect(conversation.give(other) == [.send(.command(other, token: 2))])
    let answer = ProcessMessage.commandResult(
      token: 1, outcomes: [.requested], dependents: [.init(9)])
    let result = CommandResult(command: command, outcomes: [.requested], dependents: [.init(9)])
    #expect(conversation.take(answer) == [.deliver(.commandResult(result))])
    #expect(conversation.take(answer) == [])
  }

  @Test("RD-5: The reasons of a result are passed on")
  func reasons() {
    var conversation = greeted()
    let command = MonitorCommand.retry([.init(3)], names: ["merge"])
    #expect(conversation.give(command) == [.send(.command(command, token: 1))])
    var result = CommandResult(command: command, outcomes: [.requested, .notRetryable])
    result.refusals = [1: "merge has succeeded"]
    #expect(
      conversation.take(
        .commandResult(
          token: 1, outcomes: result.outcomes, dependents: [], refusals: result.refusals))
        == [.deliver(.commandResult(result))])
  }

  @Test(
    "RD-5: The command to retry jobs is not sent to an earlier version, which never answers",
    arguments: [0, 1, 2] as [UInt32])
  func retryInEarlierVersions(minor: UInt32) throws {
    var conversation = ProcessConversation()
    _ = conversation.take(.hello(hello, versions: ProtocolVersions(major: 1, minor: minor)))
    let command = MonitorCommand.retry([.init(3), .init(4)], names: ["merge"])
    let actions = conversation.give(command)
    guard actions.count == 1, case .deliver(.commandResult(let result)) = actions[0] else {
      Issue.record("\(actions)")
      return
    }
    #expect(result.command == command)
    #expect(result.outcomes == [.notRetryable, .notRetryable, .notRetryable])
    #expect(result.refusals.keys.sorted() == [0, 1, 2])
    #expect(Set(result.refusals.values) == ["the process cannot retry jobs"])
    // The next command has the first token, and the end of the connection gives no second answer.
    let other = MonitorCommand.cancel([.init(3)])
    #expect(conversation.give(other) == [.send(.command(other, token: 1))])
    #expect(conversation.end() == [.deliver(.commandResult(.init(lost: other)))])
  }

  @Test("RD-5: If the connection ends, each job without an answer has the outcome lost")
  func lostRetry() {
    var conversation = greeted()
    let command = MonitorCommand.retry([.init(3)], names: ["merge", "notify"])
    _ = conversation.give(command)
    #expect(
      conversation.end()
        == [
          .deliver(
            .commandResult(CommandResult(command: command, outcomes: [.lost, .lost, .lost])))
        ])
  }

  @Test(
    "A process before version 1.4 refuses the limit of starts without a message to it",
    arguments: [0, 2, 3] as [UInt32])
  func startLimitsInEarlierVersions(minor: UInt32) {
    var conversation = ProcessConversation()
    _ = conversation.take(.hello(hello, versions: ProtocolVersions(major: 1, minor: minor)))
    for limit in [nil, QueueReport.StartLimit(count: 5, periodSeconds: 1)] {
      let command = MonitorCommand.setStartLimit(.init(3), limit)
      let result = CommandResult(refused: command, "the process cannot limit the starts of a queue")
      #expect(conversation.give(command) == [.deliver(.commandResult(result))])
      #expect(result.outcomes == [.refused] && conversation.end().isEmpty)
      var current = greeted()
      #expect(current.give(command) == [.send(.command(command, token: 1))])
    }
  }

  @Test(
    "SV-8: A process cannot hold operations, so the command is not sent", arguments: [true, false])
  func holding(isHeld: Bool) {
    var conversation = greeted()
    let command = MonitorCommand.setHeld([.init(3), .init(4)], isHeld)
    let result = CommandResult(
      refused: command,
      "only jobs in \"opq-top attach slurm\" can be held and released")
    #expect(conversation.give(command) == [.deliver(.commandResult(result))])
    #expect(result.outcomes == [.refused, .refused] && conversation.end().isEmpty)
  }

  @Test("Commands without an answer get one when the connection ends, once, in order")
  func lostCommands() {
    var conversation = greeted()
    let commands = [
      MonitorCommand.cancel([.init(3), .init(4)]), .setWidth(.init(1), 2),
      .changePriority([.init(5)], by: 1),
    ]
    for command in commands { _ = conversation.give(command) }
    _ = conversation.take(.commandResult(token: 2, outcomes: [.requested], dependents: []))
    let lost = [
      CommandResult(command: commands[0], outcomes: [.lost, .lost]),
      CommandResult(command: commands[2], outcomes: [.lost]),
    ]
    var ended = conversation
    #expect(conversation.end() == lost.map { .deliver(.commandResult($0)) })
    #expect(conversation.end() == [])
    let farewell = ProcessMessage.bye(Farewell(cause: .processEnds, reason: "gone"))
    #expect(
      ended.take(farewell)
        == lost.map { .deliver(.commandResult($0)) } + [.deliver(.ended(reason: "gone"))])
  }

  private func part(isFirst: Bool, isLast: Bool) -> ProcessMessage {
    let update = Update(time: MonitorTime(nanoseconds: 1))
    return .updatePart(UpdatePart(content: update, isFirst: isFirst, isLast: isLast))
  }

  @Test(
    "Each part of an update costs credit, which comes back at once for all parts except the last")
  func credit() {
    var conversation = greeted()
    for _ in 0..<5 {
      #expect(conversation.take(part(isFirst: true, isLast: false)) == [.send(.credit(1))])
      let update = Update(time: MonitorTime(nanoseconds: 1))
      #expect(
        conversation.take(part(isFirst: false, isLast: true)) == [.deliver(.update(update))])
      #expect(conversation.grant(1) == [.send(.credit(1))])
    }
  }

  @Test("A process that sends more than its credit permits is disconnected in a sentence")
  func tooMuch() {
    var conversation = greeted()
    for _ in 0..<2 {
      #expect(failure(conversation.take(part(isFirst: true, isLast: true))) == nil)
    }
    let error = failure(conversation.take(part(isFirst: true, isLast: true)))
    #expect(error?.kind == .lost)
    #expect(error?.description.contains("more updates than opq-top requested") == true)
    var early = ProcessConversation()
    _ = early.take(.hello(hello, versions: .current))
    #expect(failure(early.take(part(isFirst: true, isLast: true))) != nil)
  }

  @Test(
    "T29: A process's farewell is one line of bounded length without terminal controls")
  func hostileFarewell() throws {
    let reason = "\u{1B}[2J\r\n\u{9B}1m\u{202E}" + String(repeating: "long ", count: 100_000)
    for cause in [Farewell.Cause.tooManyViewers, .malformedMessage, .unknown, .processEnds] {
      let error = AttachError(Farewell(cause: cause, reason: reason))
      #expect(error.description.unicodeScalars.allSatisfy { !$0.isObeyed })
      #expect(error.description.count < 300)
    }
    var conversation = greeted()
    let actions = conversation.take(.bye(Farewell(cause: .processEnds, reason: reason)))
    guard case .deliver(.ended(let sentence)) = actions.first else {
      Issue.record("not reported")
      return
    }
    #expect(sentence.unicodeScalars.allSatisfy { !$0.isObeyed })
    #expect(sentence.count <= 200)
  }

  @Test("An argument is the id of a process or the path of a socket")
  func targets() {
    #expect(AttachTarget("4711") == .process(4711))
    #expect(AttachTarget("0") == nil)
    #expect(AttachTarget("99999999999") == nil)
    #expect(AttachTarget("./a.sock") == .socket("./a.sock"))
    #expect(AttachTarget("-1") == .socket("-1"))
  }
}
