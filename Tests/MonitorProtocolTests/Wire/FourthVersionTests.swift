// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests with messages of version 1.3 of the protocol, which has no run orders, groups and times of queues, and tests
/// of the messages of version 1.4.
@Suite struct FourthVersionTests {
  private func part(_ content: [UInt8]...) throws -> UpdatePart {
    let frame = HandMade.update(content.flatMap { $0 })
    guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else {
      throw WireError("it is something else")
    }
    return part
  }

  private func update(_ content: [UInt8]...) throws -> Update? {
    var assembler = UpdateAssembler()
    return try assembler.take(try part(content.flatMap { $0 }))
  }

  private func sentence(_ content: [UInt8]) -> String? {
    do {
      _ = try update(content)
      return nil
    } catch {
      return "\(error)"
    }
  }

  // MARK: - Earlier versions

  @Test("The values of version 1.4 are unknown in an update of version 1.3")
  func updateOfAnEarlierProcess() throws {
    let queue = HandMade.message(5, HandMade.number(1, 3), HandMade.text(2, "net"))
    let operation = HandMade.message(6, HandMade.number(1, 7), HandMade.number(5, 4))
    let run = HandMade.message(
      14,
      HandMade.message(
        1, HandMade.number(1, 7), HandMade.text(2, "GET"), HandMade.number(4, 4)))
    let whole = try #require(try update(queue, operation, run))
    #expect(whole.queues == [QueueReport(id: .init(3), name: "net")])
    #expect(whole.queues[0].times == nil && whole.queues[0].startedCount == nil)
    #expect(whole.changed.map(\.qualityOfService) == [.default])
    #expect(whole.runs?.runs.map(\.kind) == [nil])
    #expect(whole.runOrders.isEmpty && whole.groups == nil)
  }

  @Test("An interest without the requests of version 1.4 has the bytes of version 1.3")
  func nothingIsAdded() throws {
    var interest = try WireSamples.interest()
    let all = ViewerMessage.watch(interest, interval: .seconds(1)).encoded()
    interest.queueTimes = false
    interest.runOrder = nil
    interest.groups = nil
    let plain = ViewerMessage.watch(interest, interval: .seconds(1)).encoded()
    let requests =
      HandMade.tag(18, 0) + [1]
      + HandMade.message(
        19, HandMade.packed(1, [3, .max]), HandMade.number(2, 40), HandMade.number(3, 1))
      + HandMade.message(20, HandMade.number(1, 2), HandMade.number(2, 9))
    #expect(all.count == plain.count + requests.count)
    #expect(all.contains(requests) && !plain.contains(requests))
  }

  @Test("The versions say who knows the values of version 1.4")
  func versions() {
    #expect(ProtocolVersions.current == ProtocolVersions(major: 1, minor: 4))
    #expect(ProtocolVersions.current.knowsQueueDetails)
    #expect(!ProtocolVersions(major: 1, minor: 3).knowsQueueDetails)
  }

  // MARK: - Messages

  @Test("The command is the eighth action: a queue, and a limit unless it is removed")
  func commandOnTheWire() throws {
    func command(_ content: [UInt8]...) -> [UInt8] {
      HandMade.message(
        3, HandMade.number(1, 5),
        HandMade.message(8, HandMade.number(1, 3), content.flatMap { $0 }))
    }
    let limit = HandMade.message(2, HandMade.number(1, 3), HandMade.number(2, 10_000_000_000))
    let limits: [([UInt8], QueueReport.StartLimit?)] = [
      (command(), nil), (command(limit), .init(count: 3, periodSeconds: 10)),
    ]
    for (bytes, limit) in limits {
      let message = ViewerMessage.command(.setStartLimit(.init(3), limit), token: 5)
      #expect(message.encoded() == bytes)
      #expect(try ViewerMessage(decoding: bytes) == message)
    }
  }

  @Test("The order of positions is the eleventh column")
  func positionOnTheWire() throws {
    let bytes = HandMade.watch(HandMade.message(1, HandMade.number(1, 11)))
    guard case .watch(let interest, _) = try ViewerMessage(decoding: bytes) else {
      Issue.record("it is something else")
      return
    }
    #expect(interest.order == SortOrder(by: .position))
  }

  @Test("A request for groups by an unknown value is left out")
  func unknownRequests() throws {
    for by: UInt64 in [0, 3, 99] {
      let bytes = HandMade.watch(
        HandMade.message(20, HandMade.number(1, by), HandMade.number(2, 5)))
      guard case .watch(let interest, _) = try ViewerMessage(decoding: bytes) else {
        Issue.record("it is something else")
        return
      }
      #expect(interest.groups == nil)
    }
  }

  // MARK: - Wrong processes

  @Test(
    "A run order keeps its first 500 executing and its first 500 ready operations and is then cut")
  func longRunOrders() throws {
    func order(_ executing: UInt64, _ ready: UInt64) throws -> RunOrder? {
      let bytes = HandMade.message(
        30, HandMade.number(1, 3), HandMade.packed(2, 1..<(executing + 1)),
        HandMade.packed(3, 1..<(ready + 1)))
      return try update(bytes)?.runOrders.first
    }
    let short = try #require(try order(500, 500))
    #expect(short.executing.count == 500 && short.ready.count == 500 && !short.isCut)
    let long = try #require(try order(501, 100_000))
    #expect(long.executing == short.executing && long.ready == short.ready && long.isCut)
    // The sender respects the limit too.
    let all = (0..<600).map { OperationReport.ID($0) }
    let sent = WireRunOrder(RunOrder(queue: .init(3), executing: all, ready: all))
    #expect(sent.executing.count == 500 && sent.ready.count == 500 && sent.isCut)
  }

  @Test("An update with too many run orders, ids in run orders, or groups is refused")
  func tooManyRunOrdersAndGroups() {
    func orders(_ count: Int, ready: UInt64) -> [UInt8] {
      (0..<count).flatMap {
        HandMade.message(30, HandMade.number(1, UInt64($0)), HandMade.packed(3, 0..<ready))
      }
    }
    #expect(sentence(orders(64, ready: 78)) == nil)
    #expect(sentence(orders(10, ready: 500)) == nil)
    #expect(
      sentence(orders(65, ready: 1)) == "an update has 65 run orders; the limit is 64")
    #expect(
      sentence(orders(11, ready: 500))
        == "an update has 5500 operations in run orders; the limit is 5000")
    func groups(_ count: Int) -> [UInt8] {
      let groups = (0..<count).flatMap { HandMade.message(2, HandMade.number(2, UInt64($0))) }
      return HandMade.message(31, HandMade.number(1, 2), groups)
    }
    #expect(sentence(groups(1_000)) == nil)
    #expect(sentence(groups(1_001)) == "an update has 1001 groups; the limit is 1000")
  }

  @Test("Of several run orders of a queue, and of several groups with a key, the first counts")
  func repetitions() throws {
    func order(_ queue: UInt64, _ ready: UInt64) -> [UInt8] {
      HandMade.message(30, HandMade.number(1, queue), HandMade.packed(3, [ready]))
    }
    func group(_ kind: String, _ ended: UInt64) -> [UInt8] {
      HandMade.message(2, HandMade.text(1, kind), HandMade.number(4, ended))
    }
    let whole = try #require(
      try update(
        order(3, 1), order(4, 2), order(3, 3),
        HandMade.message(31, HandMade.number(1, 1), group("a", 1), group("b", 2), group("a", 3))))
    #expect(whole.runOrders.map(\.queue) == [.init(3), .init(4)])
    #expect(whole.runOrders.map(\.ready) == [WireSamples.ids(1), WireSamples.ids(2)])
    #expect(whole.groups?.groups.map(\.key) == [.kind("a"), .kind("b")])
    #expect(whole.groups?.groups.map(\.endedCount) == [1, 2])
  }

  @Test("Groups by an unknown value are left out, also if a later part has groups")
  func unknownGroups() throws {
    for by: UInt64 in [0, 3, 99] {
      let groups = HandMade.message(31, HandMade.number(1, by), HandMade.message(2))
      #expect(try update(groups)?.groups == nil)
    }
    func frame(_ by: UInt64, isFirst: Bool) -> [UInt8] {
      HandMade.message(
        2, HandMade.number(isFirst ? 1 : 2, 1),
        HandMade.message(
          31, HandMade.number(1, by), HandMade.message(2, HandMade.number(2, isFirst ? 5 : 6))))
    }
    let cases: [(UInt64, UInt64, Int?)] = [(2, 2, 2), (2, 1, 1), (99, 2, nil), (1, 99, 1)]
    for (first, second, count) in cases {
      var assembler = UpdateAssembler()
      var whole: Update?
      for frame in [frame(first, isFirst: true), frame(second, isFirst: false)] {
        guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else { continue }
        whole = try assembler.take(part)
      }
      #expect(whole?.groups?.groups.count == count, "\(first), \(second)")
    }
  }

  @Test("Numbers of a wrong process are clamped, and the run times of a group are 16 or none")
  func wrongNumbers() throws {
    let queue = HandMade.message(5, HandMade.signed(8, -1))
    #expect(try update(queue)?.queues.map(\.startedCount) == [0])
    for (given, count) in [(0, 0), (3, 16), (16, 16), (100, 16)] {
      let group = HandMade.message(
        2, HandMade.signed(4, .max),
        HandMade.packed(6, (0..<given).map { _ in UInt64(UInt32.max) }))
      let groups = HandMade.message(31, HandMade.number(1, 1), group, HandMade.signed(3, -1))
      let all = try #require(try update(groups)?.groups)
      #expect(all.otherCount == 0 && all.groups[0].endedCount == 1 << 40)
      #expect(all.groups[0].runBuckets.count == count)
      #expect(all.groups[0].runBuckets.prefix(given).allSatisfy { $0 == Int(UInt32.max) })
      #expect(all.groups[0].runBuckets.dropFirst(given).allSatisfy { $0 == 0 })
    }
    var group = WireSamples.group
    group.runBuckets = [-1, .max]
    #expect(WireGroup(group).runBuckets == [0, .max])
  }

  @Test("A quality of an operation that the part does not have, and an unknown one, are ignored")
  func strayQualities() throws {
    func quality(_ value: UInt64, _ ids: [UInt64]) -> [UInt8] {
      HandMade.message(32, HandMade.number(1, value), HandMade.packed(2, ids))
    }
    func operation(_ id: UInt64) -> [UInt8] {
      HandMade.message(6, HandMade.number(1, id), HandMade.number(5, 2))
    }
    let whole = try #require(
      try update(
        operation(1), operation(2), operation(3), quality(3, [1, 9]), quality(99, [2]),
        quality(4, [3])))
    #expect(whole.changed.map(\.qualityOfService) == [.utility, .default, .background])
  }

  // MARK: - Ranges of run times

  @Test(
    "GC-5: Each run time belongs to one of 16 ranges, whose bounds are four times as long as the last"
  )
  func ranges() {
    let bounds = OperationGroups.bucketBounds
    #expect(bounds.count == OperationGroups.bucketCount - 1)
    #expect(bounds.first == .microseconds(1) && bounds.last == .nanoseconds(268_435_456_000))
    for (index, bound) in bounds.enumerated() {
      #expect(OperationGroups.bucket(of: bound - .nanoseconds(1)) == index)
      #expect(OperationGroups.bucket(of: bound) == index + 1)
    }
    #expect(OperationGroups.bucket(of: .seconds(-1)) == 0)
    #expect(OperationGroups.bucket(of: .seconds(Int64.max)) == 15)
  }
}
