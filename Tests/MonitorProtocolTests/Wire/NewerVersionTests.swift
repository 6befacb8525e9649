// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests with messages that a newer minor version of the protocol may send to this version.
@Suite struct NewerVersionTests {
  private func update(_ content: [UInt8]...) throws -> Update {
    let frame = HandMade.update(content.flatMap { $0 })
    guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else {
      throw WireError("it is something else")
    }
    return part.content
  }

  private func interest(_ content: [UInt8]...) throws -> Interest {
    let frame = HandMade.watch(content.flatMap { $0 })
    guard case .watch(let interest, _) = try ViewerMessage(decoding: frame) else {
      throw WireError("it is something else")
    }
    return interest
  }

  @Test func messagesOfUnknownKindsAreSkipped() throws {
    let unknown = HandMade.message(99, HandMade.text(1, "later"))
    #expect(try ViewerMessage(decoding: unknown) == .unknown)
    #expect(try ProcessMessage(decoding: unknown) == .unknown)
    #expect(try ViewerMessage(decoding: []) == .unknown)
    let command = HandMade.message(3, HandMade.number(1, 7), HandMade.message(99))
    #expect(try ViewerMessage(decoding: command) == .unknown)
  }

  @Test func unknownFieldsAreSkipped() throws {
    let extra = HandMade.unknownFields
    let watch = HandMade.message(
      2,
      HandMade.message(
        1, HandMade.message(1, HandMade.number(1, 6), extra), extra, HandMade.number(3, 1),
        HandMade.message(11, HandMade.signed(1, 5), extra)), extra,
      HandMade.signed(2, 1_000_000_000))
    var interest = Interest(order: SortOrder(by: .time), hidesOver: true, rowLimit: nil)
    interest.warningKinds = []
    interest.timeline = .init(window: .nanoseconds(5), limit: 0)
    let expected = ViewerMessage.watch(interest, interval: .seconds(1))
    #expect(try ViewerMessage(decoding: extra + watch + extra) == expected)

    let operation = HandMade.message(
      6, extra, HandMade.number(1, 7), HandMade.number(5, 4), extra)
    let frame = HandMade.update(extra, operation, extra)
    guard case .updatePart(let part) = try ProcessMessage(decoding: extra + frame) else {
      Issue.record("it is something else")
      return
    }
    #expect(
      part.content.changed == [
        OperationReport(
          id: .init(7), name: "", className: "", queue: .init(0), state: .executing)
      ])
  }

  @Test func aGreetingOfAnotherMajorVersionIsRead() throws {
    let versions = HandMade.message(2, HandMade.number(1, 2), HandMade.number(2, 5))
    let hello = HandMade.message(
      1, HandMade.text(1, "OPQMON"), versions, HandMade.text(77, "something else"))
    guard case .hello(let viewer) = try ViewerMessage(decoding: hello),
      case .hello(_, let process) = try ProcessMessage(decoding: hello)
    else {
      Issue.record("it is something else")
      return
    }
    #expect(viewer.versions == ProtocolVersions(major: 2, minor: 5))
    #expect(process == ProtocolVersions(major: 2, minor: 5))
    #expect(!viewer.versions.isCompatible(with: .current))
  }

  @Test func operationsEventsAndRunsInUnknownStatesAreOmitted() throws {
    func state(_ field: Int, _ id: UInt64, _ number: UInt64) -> [UInt8] {
      HandMade.number(1, id) + HandMade.number(field, number)
    }
    for unknown: UInt64 in [0, 8, 1_000, UInt64(bitPattern: -1)] {
      let update = try update(
        HandMade.bytes(6, state(5, 1, unknown)), HandMade.bytes(6, state(5, 2, 6)),
        HandMade.message(
          13, HandMade.bytes(1, state(6, 1, unknown)), HandMade.bytes(1, state(6, 2, 6))),
        HandMade.message(
          14, HandMade.bytes(1, state(4, 1, unknown)), HandMade.bytes(1, state(4, 2, 6))))
      #expect(update.changed.map(\.id) == WireSamples.ids(2))
      #expect(update.events?.events.map(\.time) == [WireSamples.time(2)])
      #expect(update.runs?.runs.map(\.id) == WireSamples.ids(2))
    }
  }

  @Test func anUnknownOldStateOfAnEventIsNil() throws {
    let event = HandMade.message(1, HandMade.number(5, 99), HandMade.number(6, 4))
    #expect(try update(HandMade.message(13, event)).events?.events.first?.old == nil)
  }

  @Test func anUnknownPriorityIsNormal() throws {
    let operation = HandMade.message(6, HandMade.number(5, 2), HandMade.number(6, 99))
    #expect(try update(operation).changed.map(\.priority) == [.normal])
  }

  @Test func warningsAndReasonsOfUnknownKindsAreOmitted() throws {
    let update = try update(
      HandMade.message(15, HandMade.number(1, 99)), HandMade.message(15, HandMade.number(1, 1)),
      HandMade.message(15),
      HandMade.message(
        19, HandMade.number(2, 99), HandMade.message(3, HandMade.number(1, 99)),
        HandMade.message(3, HandMade.number(1, 5))))
    #expect(update.warnings.map(\.kind) == [.cycle])
    #expect(update.detail?.reasons.map(\.kind) == [.excluded])
    #expect(update.detail?.qualityOfService == .default)
  }

  @Test func unknownKindsInAnInterestAreIgnored() throws {
    let interest = try interest(
      HandMade.packed(13, [1, 99, 14, 0]),
      HandMade.message(7, HandMade.number(1, 5), HandMade.number(2, 99)),
      HandMade.message(7, HandMade.number(1, 6), HandMade.number(2, 2)),
      HandMade.message(1, HandMade.number(1, 99), HandMade.number(2, 1)))
    #expect(interest.warningKinds == [.cycle, .leaking])
    #expect(interest.graphs == [.init(root: .init(6), direction: .blocks, limit: 0)])
    #expect(interest.order == SortOrder(by: .state, isReversed: true))
  }

  @Test func unknownOutcomesAndCausesAreUnknown() throws {
    let result = HandMade.message(3, HandMade.number(1, 7), HandMade.packed(2, [1, 99, 2]))
    #expect(
      try ProcessMessage(decoding: result)
        == .commandResult(
          token: 7, outcomes: [.requested, .unknown, .alreadyFinished], dependents: []))
    let bye = HandMade.message(5, HandMade.number(1, 99), HandMade.text(2, "later"))
    #expect(
      try ProcessMessage(decoding: bye)
        == .bye(
          Farewell(cause: .unknown, reason: "later", versions: .init(major: 0, minor: 0))))
  }
}
