// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite struct WireLimitsTests {
  private func sentence(_ bytes: [UInt8]) -> String? {
    do {
      _ = try ViewerMessage(decoding: bytes)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func aGreetingWithoutTheMagicWordIsRefused() {
    #expect(sentence(HandMade.message(1, HandMade.text(1, "OPQMON"))) == nil)
    #expect(sentence(HandMade.message(1)) == "the other end of the connection is not an opq viewer")
    #expect(
      sentence(HandMade.message(1, HandMade.text(1, "OPQREC")))
        == "the other end of the connection is not an opq viewer")
    let process = HandMade.message(1, HandMade.text(1, "opqmon"))
    #expect(throws: WireError.self) { try ProcessMessage(decoding: process) }
  }

  @Test func anIntervalIsFromTenMillisecondsToADay() {
    #expect(sentence(HandMade.watch(interval: 10_000_000)) == nil)
    #expect(sentence(HandMade.watch(interval: 86_400_000_000_000)) == nil)
    for wrong: Int64 in [9_999_999, 86_400_000_000_001, 0, -1, .min, .max] {
      #expect(sentence(HandMade.watch(interval: wrong))?.hasPrefix("an interval of ") == true)
    }
  }

  /// The field numbers of an interest that limit a number of rows, and the names of these fields in
  /// error messages.
  private static let rowFields: [(Int, String)] = [
    (5, "a row limit"), (10, "an event limit"),
  ]

  @Test(arguments: rowFields)
  func aNumberOfRowsIsFromNoneToAMillion(_ field: Int, _ name: String) {
    for right: Int64 in [0, 1, 1_000_000] {
      #expect(sentence(HandMade.watch(HandMade.signed(field, right))) == nil)
    }
    for wrong: Int64 in [-1, 1_000_001, .min, .max] {
      #expect(
        sentence(HandMade.watch(HandMade.signed(field, wrong)))
          == "\(name) of \(wrong) is not between 0 and 1000000")
    }
  }

  @Test func theLimitAndTheWindowOfATimelineAreChecked() {
    func timeline(_ window: Int64, _ limit: Int64) -> [UInt8] {
      HandMade.watch(
        HandMade.message(11, HandMade.signed(1, window), HandMade.signed(2, limit)))
    }
    #expect(sentence(timeline(0, 0)) == nil)
    #expect(sentence(timeline(86_400_000_000_000, 1_000_000)) == nil)
    #expect(sentence(timeline(0, -1))?.hasPrefix("a timeline's limit of -1 is") == true)
    #expect(sentence(timeline(0, 1_000_001)) != nil)
    for wrong: Int64 in [-1, 86_400_000_000_001, .min, .max] {
      #expect(sentence(timeline(wrong, 1))?.hasPrefix("a timeline of ") == true)
    }
  }

  @Test func theGraphsOfAnInterestAreLimited() {
    func graphs(_ count: Int, limit: Int64) -> [UInt8] {
      let graph = HandMade.message(
        7, HandMade.number(1, 5), HandMade.number(2, 1), HandMade.signed(3, limit))
      return HandMade.watch(Array((0..<count).map { _ in graph }.joined()))
    }
    #expect(sentence(graphs(64, limit: 312)) == nil)
    #expect(
      sentence(graphs(65, limit: 1)) == "the viewer requests 65 dependency graphs; the limit is 64")
    #expect(sentence(graphs(1, limit: -1)) == "a graph's limit of -1 is not between 0 and 1000000")
    #expect(sentence(graphs(1, limit: 1_000_001)) != nil)
    #expect(sentence(graphs(1, limit: 20_000)) == nil)
    for tooMany in [graphs(1, limit: 20_001), graphs(64, limit: 313), graphs(2, limit: 10_001)] {
      #expect(
        sentence(tooMany) == "the viewer requests dependency graphs with more than 20000 operations"
      )
    }
  }

  @Test func theRootsOfAnInterestAreLimited() {
    for right: Int64 in [0, 1, 20_000] {
      #expect(sentence(HandMade.watch(HandMade.signed(8, right))) == nil)
    }
    for wrong: Int64 in [-1, 20_001, .min, .max] {
      #expect(
        sentence(HandMade.watch(HandMade.signed(8, wrong)))
          == "a root limit of \(wrong) is not between 0 and 20000")
    }
  }

  @Test func anExcessiveGraphInterestIsClamped() throws {
    var interest = Interest()
    interest.rootLimit = 1_000_000
    for root in 0..<3 {
      interest.graphs.insert(
        Interest.Graph(root: .init(UInt64(root)), direction: .blocks, limit: 9_000))
    }
    let bytes = ViewerMessage.watch(interest, interval: .seconds(1)).encoded()
    guard case .watch(let arrived, _) = try ViewerMessage(decoding: bytes) else {
      Issue.record("no watch")
      return
    }
    #expect(arrived.rootLimit == 20_000)
    #expect(arrived.graphs.map(\.limit).sorted() == [2_000, 9_000, 9_000])
  }

  @Test(arguments: [6, 9])
  func theSingleOperationsOfAnInterestAreLimited(_ field: Int) {
    #expect(sentence(HandMade.watch(HandMade.packed(field, 1...50_000))) == nil)
    #expect(
      sentence(HandMade.watch(HandMade.packed(field, 1...50_001)))
        == "the viewer names 50001 operations; the limit is 50000")
  }

  @Test("The names of an interest have at most 16 KiB together, which their sender respects")
  func theNamesOfAnInterestAreLimited() throws {
    let name = HandMade.text(17, String(repeating: "a", count: 4_092))
    func names(_ count: Int) -> [UInt8] {
      HandMade.watch(Array((0..<count).map { _ in name }.joined()))
    }
    #expect(sentence(names(4)) == nil)
    #expect(
      sentence(names(5))
        == "the names that the viewer requests have 20480 bytes; the limit is 16384")
    var interest = Interest()
    interest.names = Set((0..<9).map { "\($0)" + String(repeating: "é", count: 3_000) })
    let bytes = ViewerMessage.watch(interest, interval: .seconds(1)).encoded()
    guard case .watch(let arrived, _) = try ViewerMessage(decoding: bytes) else {
      Issue.record("no watch")
      return
    }
    #expect(arrived.names == Set(interest.names.sorted().prefix(3).map(\.wireText)))
  }

  @Test("A request for run orders names at most 64 queues and at most 500 operations a queue")
  func theRunOrdersOfAnInterestAreLimited() {
    func request(_ count: UInt64, limit: Int64) -> [UInt8] {
      HandMade.watch(
        HandMade.message(19, HandMade.packed(1, 0..<count), HandMade.signed(2, limit)))
    }
    #expect(sentence(request(0, limit: 0)) == nil)
    #expect(sentence(request(64, limit: 500)) == nil)
    #expect(
      sentence(request(65, limit: 1))
        == "the viewer requests the run orders of 65 queues; the limit is 64")
    for wrong: Int64 in [-1, 501, .min, .max] {
      #expect(
        sentence(request(1, limit: wrong))
          == "a run order's limit of \(wrong) is not between 0 and 500")
    }
  }

  @Test("A request for groups has a limit from 0 to 1,000", arguments: [1, 2, 99] as [UInt64])
  func theGroupsOfAnInterestAreLimited(by: UInt64) {
    func request(_ limit: Int64) -> [UInt8] {
      HandMade.watch(HandMade.message(20, HandMade.number(1, by), HandMade.signed(2, limit)))
    }
    #expect(sentence(request(0)) == nil && sentence(request(1_000)) == nil)
    for wrong: Int64 in [-1, 1_001, .min, .max] {
      #expect(
        sentence(request(wrong)) == "a limit of groups of \(wrong) is not between 0 and 1000")
    }
  }

  @Test func aFilterIsReadAndIsNotLongerThanFourKibibytes() {
    func filter(_ text: String) -> [UInt8] { HandMade.watch(HandMade.text(2, text)) }
    #expect(sentence(filter("state:exec age>5s")) == nil)
    #expect(sentence(filter(String(repeating: "a", count: 4_096))) == nil)
    #expect(
      sentence(filter(String(repeating: "a", count: 4_097)))
        == "a filter has 4097 bytes; the limit is 4096")
    #expect(
      sentence(filter("!")) == "invalid filter: a term or value is missing after !")
  }

  /// The arguments of this test are the field numbers of the commands that contain a list of
  /// operations.
  @Test(arguments: [2, 3, 6, 7])
  func theNumberOfOperationsInACommandIsLimited(_ field: Int) {
    func command(_ count: UInt64) -> [UInt8] {
      HandMade.message(3, HandMade.message(field, HandMade.packed(1, 1...count)))
    }
    #expect(sentence(command(100_000)) == nil)
    #expect(sentence(command(100_001)) == "a command names 100001 operations; the limit is 100000")
  }

  @Test("RD-5: The jobs of a command are limited together: operations and names")
  func theNumberOfJobsInACommandIsLimited() {
    func command(_ ids: UInt64, names: Int) -> [UInt8] {
      let names = (0..<names).flatMap { _ in HandMade.text(2, "a") }
      return HandMade.message(3, HandMade.message(7, HandMade.packed(1, 0..<ids), names))
    }
    #expect(sentence(command(1, names: 99_999)) == nil)
    #expect(
      sentence(command(2, names: 99_999)) == "a command names 2 operations; the limit is 1")
    #expect(
      sentence(command(0, names: 100_001)) == "a command names 100001 jobs; the limit is 100000")
  }

  @Test func aWidthIsFromNoneToAMillion() {
    func width(_ width: Int64) -> [UInt8] {
      HandMade.message(3, HandMade.message(5, HandMade.number(1, 3), HandMade.signed(2, width)))
    }
    #expect(sentence(width(0)) == nil)
    #expect(sentence(width(1_000_000)) == nil)
    for wrong: Int64 in [-1, 1_000_001, .min, .max] {
      #expect(sentence(width(wrong)) == "a width of \(wrong) is not between 0 and 1000000")
    }
  }

  @Test("A limit of starts has 1 to 1,000,000 starts in 1 ns to 365 days, or is removed")
  func aStartLimitIsChecked() {
    func limit(_ count: Int64, _ period: Int64) -> [UInt8] {
      HandMade.message(
        3,
        HandMade.message(
          8, HandMade.number(1, 3),
          HandMade.message(2, HandMade.signed(1, count), HandMade.signed(2, period))))
    }
    let year: Int64 = 31_536_000_000_000_000
    #expect(sentence(HandMade.message(3, HandMade.message(8, HandMade.number(1, 3)))) == nil)
    #expect(sentence(limit(1, 1)) == nil && sentence(limit(1_000_000, year)) == nil)
    for wrong: Int64 in [-1, 0, 1_000_001, .min, .max] {
      #expect(
        sentence(limit(wrong, 1)) == "a start limit of \(wrong) is not between 1 and 1000000")
    }
    for wrong: Int64 in [-1, 0, year + 1, .min, .max] {
      #expect(
        sentence(limit(1, wrong))
          == "a start limit's period of \(wrong) is not between 1 and \(year)")
    }
  }

  @Test func aPriorityIsChangedByFourLevelsAtMost() {
    func change(_ levels: Int64) -> [UInt8] {
      HandMade.message(3, HandMade.message(6, HandMade.signed(2, levels)))
    }
    for right: Int64 in [-4, 0, 4] { #expect(sentence(change(right)) == nil) }
    for wrong: Int64 in [-5, 5, Int64(Int32.min), Int64(Int32.max)] {
      #expect(sentence(change(wrong)) == "a change of priority of \(wrong) is not between -4 and 4")
    }
  }

  @Test func creditIsFromOneToSixtyFour() {
    #expect(sentence(HandMade.number(4, 1)) == nil)
    #expect(sentence(HandMade.number(4, 64)) == nil)
    for wrong: UInt64 in [0, 65, UInt64(UInt32.max)] {
      #expect(sentence(HandMade.number(4, wrong)) == "a credit of \(wrong) is not between 1 and 64")
    }
  }

  @Test func aMessageIsAMebibyteLongAtMost() throws {
    let limit = WireLimits.maximumMessageSize
    // The messages consist of unknown fields, which are allowed, so that only their length can be
    // invalid.
    let head = HandMade.tag(1_000, 2) + HandMade.varint(UInt64(limit - 6))
    let longest = head + [UInt8](repeating: 0, count: limit - head.count)
    #expect(longest.count == limit)
    let fitting = HandMade.bytes(1_000, [UInt8](repeating: 0, count: limit - 6))
    #expect(fitting.count <= limit)
    #expect(try ViewerMessage(decoding: fitting) == .unknown)
    #expect(try ProcessMessage(decoding: fitting) == .unknown)
    let tooLong = fitting + HandMade.number(1_000, 1 << 40)
    #expect(sentence(tooLong) == "a message has \(tooLong.count) bytes; the limit is 1048576")
    #expect(throws: WireError.self) { try ProcessMessage(decoding: tooLong) }
  }

  @Test func excessiveInterestsAreClampedAndAccepted() throws {
    var interest = Interest(rowLimit: .max)
    interest.operations = Set((1...60_000).map { .init(.max - $0) })
    interest.subjects = interest.operations
    interest.names = Set((0..<30_000).map { "\($0)" })
    interest.graphs = Set(
      (0..<100).map { .init(root: .init($0), direction: .blocks, limit: -5) })
    interest.rootLimit = -1
    interest.eventLimit = .max
    interest.timeline = .init(window: .seconds(-1), limit: .max)
    interest.runOrder = .init(queues: Set((0..<100).map { .init($0) }), limit: .max)
    interest.groups = .init(by: .kind, limit: -1)
    let frame = ViewerMessage.watch(interest, interval: .zero).encoded()
    #expect(frame.count <= WireLimits.maximumMessageSize)
    guard case .watch(let accepted, let interval) = try ViewerMessage(decoding: frame) else {
      Issue.record("it is something else")
      return
    }
    #expect(interval == WireLimits.shortestInterval)
    #expect(accepted.rowLimit == WireLimits.mostRows)
    #expect(accepted.operations.count == 50_000)
    #expect(accepted.operations.isSubset(of: interest.operations))
    #expect(accepted.subjects == accepted.operations)
    #expect(accepted.graphs.count == WireLimits.mostGraphs)
    #expect(accepted.graphs.allSatisfy { $0.limit == 0 })
    #expect(accepted.rootLimit == 0)
    #expect(accepted.eventLimit == WireLimits.mostRows)
    #expect(accepted.timeline == .init(window: .zero, limit: WireLimits.mostRows))
    let queues = Set((0..<64).map { QueueReport.ID($0) })
    #expect(accepted.runOrder == .init(queues: queues, limit: 500))
    #expect(accepted.groups == .init(by: .kind, limit: 0))
  }

  @Test func theLargestCommandAndItsResultFitIntoAFrame() throws {
    let ids = (1...WireLimits.mostOperationsOfCommand).map {
      OperationReport.ID(.max - UInt64($0))
    }
    let command = ViewerMessage.command(.changePriority(ids, by: -4), token: .max)
    #expect(command.encoded().count <= WireLimits.maximumMessageSize)
    #expect(try ViewerMessage(decoding: command.encoded()) == command)
    let result = ProcessMessage.commandResult(
      token: .max, outcomes: ids.map { _ in .denied },
      dependents: Array(ids.prefix(Dependents.limit)))
    #expect(result.encoded().count <= WireLimits.maximumMessageSize)
    #expect(try ProcessMessage(decoding: result.encoded()) == result)
  }

  @Test("RD-5: The reasons of a result have at most 64 KiB, and fit into a frame with all else")
  func theReasonsOfAResultAreLimited() throws {
    let ids = (1...WireLimits.mostOperationsOfCommand).map {
      OperationReport.ID(.max - UInt64($0))
    }
    for reason in ["", "the process cannot repeat jobs", String(repeating: "é", count: 3_000)] {
      let refusals = Dictionary(uniqueKeysWithValues: ids.indices.map { ($0, reason) })
      let result = ProcessMessage.commandResult(
        token: .max, outcomes: ids.map { _ in .notRetryable },
        dependents: Array(ids.prefix(WireLimits.mostDependentsOfResult)), refusals: refusals)
      let frame = result.encoded()
      #expect(frame.count <= WireLimits.maximumMessageSize)
      guard case .commandResult(_, _, _, let arrived) = try ProcessMessage(decoding: frame) else {
        Issue.record("it is something else")
        return
      }
      #expect(Set(arrived.keys) == Set(0..<arrived.count) && !arrived.isEmpty)
      #expect(arrived.values.allSatisfy { $0 == reason.wireText })
      #expect(arrived.values.reduce(0) { $0 + $1.utf8.count } <= WireLimits.mostRefusalBytes)
    }
  }
}
