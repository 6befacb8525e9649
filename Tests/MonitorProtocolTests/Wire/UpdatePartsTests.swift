// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite struct UpdatePartsTests {
  /// Encodes an update, checks the size of each frame, and returns the frames.
  private func frames(_ update: Update) -> [[UInt8]] {
    let frames = Array(UpdateParts(update))
    #expect(!frames.isEmpty)
    for frame in frames {
      #expect(frame.count <= WireLimits.softPartSize + 20_000)
      #expect(frame.count <= WireLimits.maximumMessageSize)
    }
    return frames
  }

  private func parts(_ update: Update) throws -> [UpdatePart] {
    try frames(update).compactMap {
      guard case .updatePart(let part) = try ProcessMessage(decoding: $0) else { return nil }
      return part
    }
  }

  /// Encodes an update and decodes its frames. Returns the decoded update and the number of its
  /// parts.
  private func arrival(of update: Update) throws -> (update: Update, partCount: Int) {
    let parts = try parts(update)
    var assembler = UpdateAssembler()
    for part in parts.dropLast() { #expect(try assembler.take(part) == nil) }
    let whole = try #require(try parts.last.flatMap { try assembler.take($0) })
    return (whole, parts.count)
  }

  private func operations(_ count: Int, dependencies: Int = 2) -> [OperationReport] {
    (0..<count).map { index in
      var report = WireSamples.operation
      report = OperationReport(
        id: .init(UInt64(index)), name: "tile \(index)", className: report.className,
        queue: report.queue, state: .ready,
        dependencies: (0..<dependencies).map { .init(UInt64(index + $0)) },
        added: WireSamples.time(Int64(index)))
      return report
    }
  }

  @Test func aSmallUpdateIsOneFrame() throws {
    #expect(try arrival(of: Update(time: WireSamples.time(1))).partCount == 1)
    let (update, partCount) = try arrival(of: WireSamples.update)
    #expect(partCount == 1)
    #expect(update == WireSamples.update)
  }

  @Test func aHundredThousandOperationsArriveInManyParts() throws {
    var update = WireSamples.update
    update.changed = operations(100_000)
    let (arrived, partCount) = try arrival(of: update)
    #expect(arrived == update)
    #expect(partCount > 20)
    // If the estimated size of operations were much too high, the update would have more parts.
    #expect(partCount < 100)
  }

  @Test func manyDependenciesOfAnOperationAreSplit() throws {
    var update = WireSamples.update
    update.changed = operations(3)
    update.changed[1].dependencies = (0..<300_000).map { .init(UInt64($0) << 20) }
    update.changed[2].dependencies = (0..<5_000).map { .init(UInt64($0)) }
    let (arrived, partCount) = try arrival(of: update)
    #expect(arrived == update)
    #expect(partCount > 4)
  }

  @Test func theLastOperationCanBeSplit() throws {
    var update = Update(time: WireSamples.time(1))
    update.changed = operations(1)
    update.changed[0].dependencies = (0..<100_000).map { .init(UInt64($0) << 20) }
    let (arrived, partCount) = try arrival(of: update)
    #expect(arrived == update)
    #expect(partCount > 1)
  }

  @Test func manyOperationsWithManyDependenciesEachAreSplit() throws {
    var update = Update(time: WireSamples.time(1))
    update.changed = operations(100, dependencies: 10_000)
    #expect(try arrival(of: update).update == update)
  }

  @Test func fiftyThousandQueuesArriveInManyParts() throws {
    var update = WireSamples.update
    update.queues = (0..<50_000).map { index in
      QueueReport(
        id: .init(UInt64(index)), name: "queue \(index)", counts: WireSamples.queue.counts,
        width: index)
    }
    let (arrived, partCount) = try arrival(of: update)
    #expect(arrived == update)
    #expect(partCount > 5)
  }

  @Test func everyOtherListIsSplit() throws {
    let ids = (0..<60_000).map { OperationReport.ID(UInt64($0) << 30) }
    var update = WireSamples.update
    update.removed = ids
    update.dependents = Dependents(subjects: Set(ids), ids: ids, isCut: true)
    update.events = EventNews(
      events: (0..<10_000).map { index in
        var event = WireSamples.event
        event.time = WireSamples.time(Int64(index))
        return event
      }, skippedCount: 23, isBeginning: true)
    update.runs = RecentRuns(
      runs: ids.prefix(10_000).map {
        OperationRun(
          id: $0, title: "run", queue: .init(1), state: .executing, started: WireSamples.time(1),
          kind: "kind")
      }, count: 24)
    update.warnings = (0..<1_000).map { index in
      MonitorWarning(kind: .cycle, operations: Array(ids.prefix(200)), count: index)
    }
    update.kindTimes = Dictionary(
      uniqueKeysWithValues: (0..<5_000).map { ("Class\($0)", WireSamples.times) })
    update.detail?.reasons = (0..<2_000).map {
      .init(kind: .noFreeSlot, sentence: String(repeating: "é", count: 100) + "\($0)")
    }
    update.logs = ids.prefix(1_000).map { id in
      OperationLog(
        of: id,
        lines: (0..<50).map {
          LogLine(time: WireSamples.time($0), level: .info, text: String(repeating: "x", count: 80))
        })
    }
    update.runOrders = (0..<10).map { index in
      RunOrder(
        queue: .init(UInt64(index)), executing: Array(ids.suffix(50)),
        ready: Array(ids.suffix(450)),
        isCut: true)
    }
    let kind = String(repeating: "é", count: 1_000)
    update.groups?.groups = (0..<1_000).map { index in
      var group = WireSamples.group
      group.key = .kind("\(kind)\(index)")
      return group
    }
    update.detail?.awaitedOperations = ids
    update.detail?.awaitedQueues = ids.map { .init($0.rawValue) }
    let (arrived, partCount) = try arrival(of: update)
    #expect(arrived == update)
    #expect(partCount > 10)
  }

  @Test func partsAreMadeOnRequest() {
    var update = Update(time: WireSamples.time(1))
    update.changed = operations(20_000)
    var parts = UpdateParts(update)
    var count = 0
    while parts.next() != nil { count += 1 }
    #expect(count > 1)
    #expect(parts.next() == nil)
  }

  @Test func theSameUpdateIsTheSameBytes() {
    let frames = Array(UpdateParts(WireSamples.update))
    for _ in 0..<10 {
      // Each access to `WireSamples.update` creates new sets and dictionaries, whose elements may
      // be in another order.
      #expect(Array(UpdateParts(WireSamples.update)) == frames)
    }
  }

  // MARK: - Endless updates

  private func sentence(_ count: Int, _ part: (_ isFirst: Bool) -> UpdatePart) -> String? {
    var assembler = UpdateAssembler()
    do {
      for index in 0..<count { _ = try assembler.take(part(index == 0)) }
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func theSizeOfAnUpdateIsLimited() {
    let empty = Update(time: WireSamples.time(1))
    let short = { UpdatePart(content: empty, isFirst: $0, isLast: false) }
    #expect(sentence(8_192, short) == nil)
    #expect(sentence(8_193, short) == "an update has 8193 parts; the limit is 8192")
    let long = { isFirst in
      var part = UpdatePart(content: empty, isFirst: isFirst, isLast: false)
      part.byteCount = WireLimits.maximumMessageSize
      return part
    }
    #expect(sentence(256, long) == nil)
    #expect(sentence(257, long) == "an update has 269484032 bytes; the limit is 268435456")
  }

  @Test("An update has a maximum number of entries and of ids in all its lists together")
  func allListsHaveOneEnd() throws {
    var update = WireSamples.update
    update.changed = operations(3, dependencies: 2)
    update.removed = WireSamples.ids(1, 2, 3)
    update.dependents = Dependents(
      subjects: [.init(1)], ids: WireSamples.ids(2, 3), isCut: false)
    update.detail = nil
    update.warnings = [
      MonitorWarning(kind: .cycle, operations: WireSamples.ids(1, 2, 3, 4), count: 1)
    ]
    update.runOrders = [
      RunOrder(queue: .init(1), executing: WireSamples.ids(1), ready: WireSamples.ids(2, 3))
    ]
    let groups = update.groups?.groups.count ?? 0
    let entries =
      groups + 1 + update.queues.count + 3 + (update.events?.events.count ?? 0)
      + (update.runs?.runs.count ?? 0)
      + 1 + update.kindTimes.count + update.logs.reduce(0) { $0 + 1 + $1.lines.count }
    #expect(entries > 6)
    let ids = 3 * 2 + 3 + 1 + 2 + 4 + 3
    func sentence(mostEntries: Int, mostIDs: Int) -> String? {
      var assembler = UpdateAssembler(mostEntries: mostEntries, mostIDs: mostIDs)
      do {
        // Each update may reach the limits for entries and ids, even if several updates together
        // exceed these limits.
        for _ in 0..<2 {
          _ = try assembler.take(UpdatePart(content: update, isFirst: true, isLast: true))
        }
        _ = try assembler.take(UpdatePart(content: update, isFirst: true, isLast: false))
        _ = try assembler.take(UpdatePart(content: update, isFirst: false, isLast: true))
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(sentence(mostEntries: 2 * entries, mostIDs: 2 * ids) == nil)
    #expect(
      sentence(mostEntries: 2 * entries - 1, mostIDs: 2 * ids)
        == "an update has \(2 * entries) entries; the limit is \(2 * entries - 1)")
    #expect(
      sentence(mostEntries: 2 * entries, mostIDs: 2 * ids - 1)
        == "an update has \(2 * ids) ids; the limit is \(2 * ids - 1)")
  }

  @Test func theBytesOfPartsAreCountedForEachUpdate() throws {
    let part = try #require(try parts(WireSamples.update).first)
    #expect(part.byteCount == Array(UpdateParts(WireSamples.update)).first?.count)
    var whole = UpdatePart(content: part.content, isFirst: true, isLast: true)
    whole.byteCount = WireLimits.mostBytesOfUpdate
    var assembler = UpdateAssembler()
    for _ in 0..<3 { #expect(try assembler.take(whole) == part.content) }
  }

  // MARK: - Long names

  /// Returns an update in which every name and every title is `name`.
  private func update(named name: String) -> Update {
    var update = WireSamples.update
    update.changed[0].name = name
    update.changed[0].className = name
    update.queues[0].name = name
    update.events?.events[0].title = name
    update.runs?.runs[0].title = name
    update.warnings[0].title = name
    update.warnings[0].awaitedTitle = name
    update.detail?.reasons[0].sentence = name
    update.kindTimes = [name: WireSamples.times]
    update.runs?.runs[0].kind = name
    update.groups = OperationGroups(by: .kind, groups: [.init(key: .kind(name))])
    return update
  }

  @Test func longNamesAreCut() throws {
    let name = String(repeating: "long name ", count: 1_000)
    let update = update(named: name)
    #expect(Array(UpdateParts(update)).joined().count < 10 * 4_096 + 2_500)
    let arrived = try arrival(of: update).update
    #expect(arrived == self.update(named: String(name.prefix(4_092)) + "…"))
    var hello = WireSamples.hello
    hello.processName = name
    hello.bootID = name
    let message = ProcessMessage.hello(hello, versions: .current)
    #expect(message.encoded().count < 2 * 4_096 + 200)
  }

  @Test func theCostOfAVeryLongNameIsLimited() {
    func cost(_ name: String) -> Duration {
      let update = update(named: name)
      return ContinuousClock().measure {
        for _ in 0..<50 {
          for frame in UpdateParts(update) { #expect(frame.count < 50_000) }
        }
      }
    }
    let short = cost(String(repeating: "long name ", count: 1_000))
    // The second name has a thousand times as many characters as the first one. Encoding must not
    // read all of them.
    let long = cost(String(repeating: "long name ", count: 1_000_000))
    #expect(long < short * 10 + .milliseconds(20))
  }

  @Test func manyLongNamesAreSplit() throws {
    var update = Update(time: WireSamples.time(1))
    let name = String(repeating: "x", count: 10_000)
    update.changed = operations(300)
    for index in update.changed.indices { update.changed[index].name = name }
    let (arrived, partCount) = try arrival(of: update)
    #expect(arrived.changed.map(\.name) == update.changed.map(\.name.wireText))
    #expect(partCount > 4)
  }

  @Test func aTextIsCutBetweenCharacters() {
    #expect(String(repeating: "a", count: 4_096).wireText.utf8.count == 4_096)
    for character in ["é", "e\u{301}", "👩‍👩‍👧‍👦", "🇩🇪", "日"] {
      for offset in 0..<8 {
        let start = String(repeating: "a", count: offset)
        let text = (start + String(repeating: character, count: 5_000)).wireText
        #expect(text.utf8.count <= 4_096)
        #expect(text.utf8.count > 4_040)
        #expect(text.last == "…")
        let middle = text.dropFirst(offset).dropLast()
        #expect(middle.allSatisfy { $0 == Character(character) })
      }
    }
    // The text `zalgo` is a single character with more bytes than a name may have.
    let zalgo = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(zalgo.wireText.utf8.count <= 4_096)
    #expect(zalgo.wireText.utf8.count > 4_000)
    #expect(zalgo.wireText.wireText == zalgo.wireText)
  }

  // MARK: - Parts in the wrong order

  @Test func aPartInTheWrongOrderIsRefused() throws {
    var update = Update(time: WireSamples.time(1))
    update.changed = operations(5_000)
    let parts = try parts(update)
    try #require(parts.count > 2)
    var assembler = UpdateAssembler()
    #expect(throws: WireError.self) { try assembler.take(parts[1]) }
    #expect(try assembler.take(parts[0]) == nil)
    #expect(throws: WireError.self) { try assembler.take(parts[0]) }
    var next = UpdateAssembler()
    for part in parts.dropLast() { #expect(try next.take(part) == nil) }
    #expect(try next.take(parts[parts.count - 1]) == update)
    #expect(throws: WireError.self) { try next.take(parts[parts.count - 1]) }
    // After a complete update, the first part of the next update is accepted.
    #expect(try next.take(parts[0]) == nil)
  }

  @Test func dependenciesOfAnOmittedOperationAreSkipped() throws {
    let kept = HandMade.message(6, HandMade.number(1, 1), HandMade.number(5, 1))
    let newer = HandMade.message(6, HandMade.number(1, 2), HandMade.number(5, 99))
    let first = HandMade.message(2, HandMade.number(1, 1), kept, newer)
    let second = HandMade.message(
      2, HandMade.number(2, 1),
      HandMade.message(4, HandMade.number(1, 2), HandMade.packed(2, [7, 8])))
    var assembler = UpdateAssembler()
    var whole: Update?
    for frame in [first, second] {
      guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else { continue }
      whole = try assembler.take(part)
    }
    #expect(whole?.changed.map(\.id) == WireSamples.ids(1))
    #expect(whole?.changed.first?.dependencies == [])
  }
}
