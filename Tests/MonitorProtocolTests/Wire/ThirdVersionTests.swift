// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests with messages of version 1.2 of the protocol, in which no job can be retried.
@Suite struct ThirdVersionTests {
  private static let versions = HandMade.message(2, HandMade.number(1, 1), HandMade.number(2, 2))
  /// The greeting of a process of version 1.2.
  private static let hello = HandMade.message(
    1, HandMade.text(1, "OPQMON"), versions, HandMade.text(3, "tiles"), HandMade.number(11, 99))
  /// The result of a command of version 1.2.
  private static let result = HandMade.message(
    3, HandMade.number(1, 7), HandMade.packed(2, [1, 2, 3, 0]), HandMade.packed(3, [9]))

  @Test("RD-5: A process of version 1.2 cannot retry jobs")
  func greetingOfAnEarlierProcess() throws {
    guard case .hello(let hello, let versions) = try ProcessMessage(decoding: Self.hello) else {
      Issue.record("it is something else")
      return
    }
    #expect(versions.isCompatible(with: .current) && !versions.knowsRetry)
    #expect(!hello.canRetry && hello.startTicks == 99)
    #expect(ProtocolVersions.current.knowsRetry)
  }

  @Test("A result of version 1.2 has no reasons")
  func resultOfAnEarlierProcess() throws {
    #expect(
      try ProcessMessage(decoding: Self.result)
        == .commandResult(
          token: 7, outcomes: [.requested, .alreadyFinished, .denied, .unknown],
          dependents: [.init(9)]))
  }

  @Test("A process that retries no jobs sends the bytes of version 1.2")
  func nothingIsAdded() throws {
    var hello = WireSamples.hello
    hello.canRetry = false
    let plain = ProcessMessage.hello(hello, versions: .init(major: 1, minor: 2)).encoded()
    hello.canRetry = true
    let jobs = ProcessMessage.hello(hello, versions: .init(major: 1, minor: 2)).encoded()
    #expect(jobs.count == plain.count + 2)
    #expect(
      ProcessMessage.commandResult(
        token: 7, outcomes: [.requested, .alreadyFinished, .denied, .unknown],
        dependents: [.init(9)]
      ).encoded() == Self.result)
  }

  @Test("RD-5: The command is the seventh action: ids and names")
  func commandOnTheWire() throws {
    let bytes = HandMade.message(
      3, HandMade.number(1, 5),
      HandMade.message(7, HandMade.packed(1, [3, 300]), HandMade.text(2, "merge")))
    let command = ViewerMessage.command(
      .retry([.init(3), .init(300)], names: ["merge"]), token: 5)
    #expect(command.encoded() == bytes)
    #expect(try ViewerMessage(decoding: bytes) == command)
  }

  @Test("RD-5: A refusal is the fourth outcome, and its reason has the index of the outcome")
  func refusalOnTheWire() throws {
    let bytes = HandMade.message(
      3, HandMade.number(1, 5), HandMade.packed(2, [4, 1, 4]),
      HandMade.message(4, HandMade.text(2, "it runs")),
      HandMade.message(4, HandMade.number(1, 2), HandMade.text(2, "it has succeeded")))
    let result = ProcessMessage.commandResult(
      token: 5, outcomes: [.notRetryable, .requested, .notRetryable], dependents: [],
      refusals: [0: "it runs", 2: "it has succeeded"])
    #expect(result.encoded() == bytes)
    #expect(try ProcessMessage(decoding: bytes) == result)
  }

  @Test("RD-5: Of two reasons for an outcome the first counts, and a long reason is cut")
  func strayReasons() throws {
    let long = String(repeating: "é", count: 5_000)
    let bytes = HandMade.message(
      3, HandMade.packed(2, [4]), HandMade.message(4, HandMade.text(2, long)),
      HandMade.message(4, HandMade.text(2, "another")),
      HandMade.message(4, HandMade.number(1, 99), HandMade.text(2, "stray")))
    guard case .commandResult(_, _, _, let refusals) = try ProcessMessage(decoding: bytes) else {
      Issue.record("it is something else")
      return
    }
    #expect(refusals == [0: long.wireText, 99: "stray"])
  }
}
