// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite("The groups that a session sends")
struct GroupTests {
  private typealias Key = OperationGroups.Key
  private let watched = WatchedQueue()

  private func interest(
    _ filter: String = "", by: OperationGroups.By = .kind, limit: Int = WireLimits.mostGroups,
    hidesOver: Bool = false
  ) throws -> Interest {
    var interest = Interest(filter: try OperationFilter(filter), hidesOver: hidesOver, rowLimit: 1)
    interest.groups = .init(by: by, limit: limit)
    return interest
  }

  private func totals(_ update: Update) -> [Key: Int]? {
    update.groups.map { groups in
      Dictionary(uniqueKeysWithValues: groups.groups.map { ($0.key, $0.counts.total) })
    }
  }

  @Test("GC-1: Each operation of the list counts in the group of its kind or queue, in its state")
  func counts() throws {
    watched.queue.isSuspended = true
    let operations = watched.add(kinds: ["hash", "tile", "hash", "merge"])
    operations[1].addDependency(operations[0])
    var update = watched.update(try interest())
    #expect(totals(update) == [.kind("hash"): 2, .kind("tile"): 1, .kind("merge"): 1])
    let tile = try #require(update.groups?.groups.first { $0.key == .kind("tile") })
    #expect(tile.counts == StateCounts(waiting: 1, total: 1))
    let hash = try #require(update.groups?.groups.first)
    #expect(hash.key == .kind("hash") && hash.counts == StateCounts(ready: 2, held: 2, total: 2))
    update = watched.update(try interest(by: .queue))
    #expect(totals(update) == [.queue(watched.id): 4] && update.groups?.by == .queue)
    watched.finishAll()
    update = watched.update(try interest())
    #expect(
      update.groups?.groups.first { $0.key == .kind("hash") }?.counts
        == StateCounts(finished: 2, total: 2))
  }

  @Test("GC-1: Only the operations of the list count")
  func lists() throws {
    watched.queue.isSuspended = true
    let operations = watched.add(kinds: ["hash", "tile", "hash"])
    for (index, operation) in operations.enumerated() { operation.name = "job \(index)" }
    #expect(totals(watched.update(try interest("kind:=hash"))) == [.kind("hash"): 2])
    var named = try interest()
    named.names = ["job 0", "job 1"]
    #expect(totals(watched.update(named)) == [.kind("hash"): 1, .kind("tile"): 1])
    var warned = try interest()
    warned.showsWarnedOnly = true
    #expect(totals(watched.update(warned)) == [:])
    watched.finishAll()
    #expect(totals(watched.update(try interest(hidesOver: true))) == [:])
    #expect(totals(watched.update(try interest())) == [.kind("hash"): 2, .kind("tile"): 1])
  }

  @Test("GC-1: Groups can be requested without rows, and rows after that")
  func groupsWithoutRows() throws {
    watched.queue.isSuspended = true
    watched.add(kinds: ["hash", "tile", "hash"])
    var withoutRows = try interest("kind:=hash")
    withoutRows.rowLimit = nil
    withoutRows.groups = nil
    #expect(watched.update(withoutRows).groups == nil)
    withoutRows.groups = .init(by: .kind)
    #expect(totals(watched.update(withoutRows)) == [.kind("hash"): 2])
    withoutRows.groups = nil
    #expect(watched.update(withoutRows).groups == nil)
    withoutRows.rowLimit = 1
    let update = watched.update(withoutRows)
    #expect(update.matchCount == 2 && update.removed.count == 2)
    watched.finishAll()
  }

  @Test("GC-1: The groups follow each change of an operation", arguments: 1...20)
  func changes(seed: UInt64) throws {
    var random = SeededNumbers(state: seed)
    watched.queue.isSuspended = true
    watched.queue.maxConcurrentOperationCount = 1
    var operations: [BlockOperation] = []
    let interest = try interest("!kind:=b", hidesOver: Bool.random(using: &random))
    let list = watched.watch(interest)
    for _ in 0..<200 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: operations.randomElement(using: &random)?.cancel()
      case 1: operations.randomElement(using: &random)?.kind = "c"
      case 2: operations.randomElement(using: &random)?.queuePriority = .high
      case 3: watched.queue.isSuspended.toggle()
      case 4: watched.read()
      default:
        let kind = ["a", "b", "c"].randomElement(using: &random) ?? ""
        operations += watched.add(kinds: [kind])
      }
    }
    watched.read()
    let reports = watched.table.entries.values.map(\.report).filter { report in
      interest.sortKey(of: report, queueName: "watched", at: .now) != nil
    }
    let expected = Dictionary(grouping: reports) { Key.kind($0.kind) }.mapValues { reports in
      reports.reduce(into: StateCounts()) { $0.add($1.state) }
    }
    let groups = try #require(list.takeUpdate(from: watched.table).groups).groups
    #expect(Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.counts) }) == expected)
    watched.finishAll()
  }

  @Test("GC-1: The groups follow each change while the operations are counted", arguments: 1...20)
  func changesDuringTheCount(seed: UInt64) throws {
    var random = SeededNumbers(state: seed)
    func someKind() -> String { ["a", "b", "c"].randomElement(using: &random) ?? "" }
    watched.queue.isSuspended = true
    watched.queue.maxConcurrentOperationCount = 2
    var operations = watched.add(kinds: (0..<3_000).map { _ in someKind() })
    var interest = try interest("!kind:=b")
    interest.order.column =
      [.id, .state, .priority, .name].randomElement(using: &random) ?? .state
    interest.groups = nil
    let list = watched.watch(interest)
    interest.groups = .init(by: .kind)
    watched.table.keepList(for: SessionID(rawValue: 1), interest, at: .now)
    var stepCount = 0
    while list.isFilling {
      stepCount += 1
      for _ in 0..<20 {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: operations.randomElement(using: &random)?.cancel()
        case 1: operations.randomElement(using: &random)?.kind = "d"
        case 2: operations.randomElement(using: &random)?.queuePriority = .high
        case 3: operations.randomElement(using: &random)?.name = "x"
        case 4: watched.queue.isSuspended.toggle()
        default: operations += watched.add(kinds: [someKind()])
        }
      }
      watched.read()
      #expect(list.takeUpdate(from: watched.table).groups == nil)
      list.fill(from: watched.table, until: .now - .seconds(1))
    }
    #expect(stepCount > 1)
    watched.read()
    let reports = watched.table.entries.values.map(\.report).filter { $0.kind != "b" }
    for by in OperationGroups.By.allCases {
      interest.groups = .init(by: by)
      watched.table.keepList(for: SessionID(rawValue: 1), interest, at: .now)
      // The operations were counted by both values.
      #expect(!list.isFilling)
      let expected = Dictionary(grouping: reports) { Key($0, by: by) }.mapValues { reports in
        reports.reduce(into: StateCounts()) { $0.add($1.state) }
      }
      let groups = try #require(list.takeUpdate(from: watched.table).groups).groups
      #expect(Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.counts) }) == expected)
    }
    watched.finishAll()
  }

  @Test("GC-2: While the operations are counted for the first time, there are no groups")
  func slices() throws {
    var interest = Interest(rowLimit: 1)
    interest.groups = .init(by: .kind)
    watched.queue.isSuspended = true
    watched.add(kinds: Array(repeating: "tile", count: 2_000))
    watched.read()
    let session = SessionID(rawValue: 2)
    watched.table.keepList(for: session, Interest(rowLimit: 1), at: .now)
    let list = try #require(watched.table.lists[session])
    list.fill(from: watched.table, until: .now + .seconds(60))
    #expect(list.takeUpdate(from: watched.table).changed.count == 1)
    watched.table.keepList(for: session, interest, at: .now)
    var updateCount = 0
    while list.isFilling {
      let update = list.takeUpdate(from: watched.table)
      // The rows of the list stay during the count.
      #expect(update.groups == nil && update.matchCount == 2_000 && update.removed.isEmpty)
      updateCount += 1
      // One step is added, although the time is over.
      list.fill(from: watched.table, until: .now - .seconds(1))
    }
    #expect(updateCount > 4)
    #expect(totals(list.takeUpdate(from: watched.table)) == [.kind("tile"): 2_000])
    // The same groups with another limit are not counted again.
    interest.groups = .init(by: .kind, limit: 0)
    watched.table.keepList(for: session, interest, at: .now)
    #expect(!list.isFilling)
    #expect(list.takeUpdate(from: watched.table).groups?.otherCount == 1)
    watched.table.keepList(for: session, Interest(rowLimit: 1), at: .now)
    #expect(!list.isFilling && list.takeUpdate(from: watched.table).groups == nil)
    watched.finishAll()
  }

  @Test("GC-2: If groups are requested while the list is filled, its rows do not wait for them")
  func groupsWhileTheListIsFilled() throws {
    watched.queue.isSuspended = true
    watched.add(kinds: Array(repeating: "tile", count: 2_000))
    watched.read()
    let session = SessionID(rawValue: 2)
    watched.table.keepList(for: session, Interest(rowLimit: 2_000), at: .now)
    let list = try #require(watched.table.lists[session])
    // One step is added, although the time is over.
    #expect(!list.fill(from: watched.table, until: .now - .seconds(1)))
    var interest = Interest(rowLimit: 2_000)
    interest.groups = .init(by: .kind)
    watched.table.keepList(for: session, interest, at: .now)
    var received = list.takeUpdate(from: watched.table).changed.count
    #expect(received > 0 && received < 2_000)
    while !list.fill(from: watched.table, until: .now - .seconds(1)) {}
    #expect(list.isFilling && list.mayReport(at: .now, interval: .seconds(1_000)))
    let update = list.takeUpdate(from: watched.table)
    received += update.changed.count
    #expect(received == 2_000 && update.groups == nil)
    while !list.fill(from: watched.table, until: .now - .seconds(1)) {}
    #expect(!list.isFilling && list.mayReport(at: .now, interval: .seconds(1_000)))
    #expect(totals(list.takeUpdate(from: watched.table)) == [.kind("tile"): 2_000])
    watched.finishAll()
  }

  @Test("GC-3: The groups with the most unfinished operations are sent, up to the limit")
  func limit() throws {
    watched.queue.isSuspended = true
    watched.add(kinds: ["a", "b", "b", "c", "d", "d", "d"])
    let groups = try #require(watched.update(try interest(limit: 3)).groups)
    #expect(groups.groups.map(\.key) == [.kind("d"), .kind("b"), .kind("a")])
    #expect(groups.otherCount == 1)
    watched.finishAll()
  }

  @Test(
    "GC-4: After operations of very many kinds have ended, the kinds that ended last are counted")
  func endsOfManyKinds() {
    var histograms = TimeHistograms()
    func note(_ kind: String) {
      histograms.note(
        OperationReport(
          id: .init(1), name: "", className: kind, queue: .init(1), state: .cancelled))
    }
    let total = 2 * TimeHistograms.countedKindLimit + 7
    for number in 0..<total {
      note("K\(number)")
      if number % 100 == 0 { note("often") }
    }
    #expect(histograms.endedCount(ofKind: "often") == total / 100 + 1)
    let last = total - TimeHistograms.countedKindLimit / 2 + 1
    #expect((last..<total).allSatisfy { histograms.endedCount(ofKind: "K\($0)") == 1 })
    #expect(histograms.endedCount(ofKind: "K0") == 0)
    note("K0")
    #expect(histograms.endedCount(ofKind: "K0") == 1)
  }

  @Test("GC-4: A group has the ends and the times of all its operations, also outside the list")
  func times() throws {
    watched.read()
    watched.add(kinds: ["hash", "hash", "tile"])
    watched.finishAll()
    watched.queue.isSuspended = true
    watched.add(kinds: ["hash"])
    let update = watched.update(try interest(hidesOver: true))
    let group = try #require(update.groups?.groups.first)
    #expect(update.groups?.groups.count == 1 && group.key == .kind("hash"))
    #expect(group.counts.total == 1 && group.endedCount == 2)
    #expect(group.times.run?.count == 2 && group.times.wait?.count == 2)
    #expect(group.runBuckets.count == OperationGroups.bucketCount)
    #expect(group.runBuckets.reduce(0, +) == 2)
    let queue = try #require(watched.update(try interest(by: .queue)).groups?.groups.first)
    #expect(queue.endedCount == 3 && queue.times.run?.count == 3)
    #expect(queue.runBuckets.reduce(0, +) == 3)
    watched.finishAll()
  }

  @Test("GC-5: The ranges have the run times of the last 30 to 60 seconds")
  func generations() {
    var times = GroupTimes()
    func note(finishedAt second: Int64, after run: Duration) {
      let finished = MonitorTime(nanoseconds: second * 1_000_000_000)
      times.note(
        OperationReport(
          id: .init(1), name: "", className: "A", queue: .init(1), state: .finished,
          started: finished - run, finished: finished))
    }
    note(finishedAt: 100, after: .microseconds(5))
    note(finishedAt: 131, after: .seconds(1_000))
    #expect(times.runBuckets.reduce(0, +) == 2)
    #expect(times.runBuckets[2] == 1 && times.runBuckets[15] == 1)
    note(finishedAt: 162, after: .microseconds(5))
    #expect(times.runBuckets.reduce(0, +) == 2 && times.statistics.run?.count == 2)
    note(finishedAt: 900, after: .microseconds(5))
    #expect(times.runBuckets.reduce(0, +) == 1 && times.statistics.run?.count == 1)
  }
}

/// Random numbers that are the same for the same seed.
private struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}
