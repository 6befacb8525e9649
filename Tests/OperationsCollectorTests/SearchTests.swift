// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite("Searches of all operations")
struct SearchTests {
  private typealias ID = OperationReport.ID

  private func report(_ number: Int, _ name: String, _ className: String) -> OperationReport {
    OperationReport(
      id: ID(UInt64(number)), name: name, className: className, queue: .init(1), state: .ready,
      becameReady: MonitorTime(nanoseconds: Int64(number * 7_919 % 1_003)))
  }

  /// The reports have empty names, names with unusual characters, equal beginnings, and ids that are far apart.
  private var reports: [OperationReport] {
    let names = ["", "Job", "job 1", "naïve", "\u{1F600} ÿ", "A#12", "aab", "aaab", "ab"]
    let classes = ["BlockOperation", "Merge", "", "jobClass"]
    return (0..<400).map { index in
      let number = index < 300 ? index + 1 : index * 1_000_003
      let suffix = index % 3 == 0 ? "" : " \(index)"
      var report = report(
        number, names[index % names.count] + suffix, classes[index % classes.count])
      if index % 5 == 0 { report.givenKind = index % 2 == 0 ? "Zip file" : "hash" }
      return report
    }
  }

  private static let needles = [
    "j", "JOB", "job 1", "1", "#1", "12", "#12", "aab", "ab", "merge", "ope", "ÿ", "ï", "\u{1F600}",
    "zebra", "zip", "HASH", "file", " ", "b 1", "operationjob", "3#", "#300001",
  ]

  @Test("The collected texts find the same operations as a search of the reports")
  func textsFindTheSameOperations() {
    let reports = reports
    let byID = Dictionary(uniqueKeysWithValues: reports.map { ($0.id, $0) })
    var texts = SearchTexts(of: reports.map(\.id))
    #expect(texts.isFilling)
    texts.fill(until: .now) { byID[$0] }
    #expect(texts.isFilling, "one step does not collect all texts")
    texts.fill(until: .now + .seconds(60)) { byID[$0] }
    #expect(!texts.isFilling)
    for needle in Self.needles {
      let found = texts.matches(of: needle) { byID[$0] }
      for report in reports {
        #expect(
          found.contains(report.id) == report.isMatch(of: needle),
          "\(needle) in \(report.id) \(report.name)")
      }
    }
    let nothing = texts.matches(of: "") { byID[$0] }
    #expect(!reports.contains { nothing.contains($0.id) })
  }

  @Test("A search finds a renamed operation by its new name and kind, and not by earlier names")
  func renamedOperations() {
    var report = report(7, "poster: 35 %", "Poster")
    let other = self.report(8, "index", "Index")
    var texts = SearchTexts(of: [])
    for report in [report, other] { texts.insert(report) }
    report.name = "poster: 36 %"
    report.givenKind = "image"
    texts.rename(report)
    let current = [report.id: report, other.id: other]
    func finds(_ text: String) -> Bool { texts.matches(of: text) { current[$0] }.contains(ID(7)) }
    #expect(finds("36 %") && finds("poster") && finds("#7") && finds("image"))
    #expect(!finds("35 %"))
    texts.remove(report.id)
    #expect(texts.matches(of: "index") { current[$0] }.contains(ID(8)))
  }

  @Test(
    "Many changes of names make the texts collect again, so that they do not grow without limit")
  func manyNames() {
    var texts = SearchTexts(of: [])
    texts.insert(report(1, "0 %", "Poster"))
    var count = 0
    while !texts.isWasteful, count < 100_000 {
      count += 1
      texts.rename(report(1, "\(count) %", "Poster"))
    }
    #expect(texts.isWasteful)
  }

  @Test("Matches follow the changes of operations", arguments: [false, true])
  func matchesFollowChanges(isReversed: Bool) {
    var known = Dictionary(uniqueKeysWithValues: reports.map { ($0.id, $0) })
    var order = FilledOrder()
    order.begin(with: Array(known.keys))
    order.fill(until: .now + .seconds(60)) { known[$0].map { SortKey($0) } }
    var texts = SearchTexts(of: Array(known.keys))
    texts.fill(until: .now + .seconds(60)) { known[$0] }
    var search = ListSearch(for: "job", in: order.order, texts) { known[$0] }
    func check(_ start: ID) {
      let keys = known.values.filter { $0.isMatch(of: "job") }.map { SortKey($0) }
      let ids = (isReversed ? keys.sorted(by: >) : keys.sorted()).map(\.id)
      let key = known[start].map { SortKey($0) }
      let answer = search.answer(
        .init(text: "job", start: start), start: key, isReversed: isReversed)
      #expect(answer.count == ids.count)
      for id in answer.ids {
        #expect(answer.position(of: id).map { ids[$0] } == id)
      }
      guard let key else { return }
      let next = keys.filter { isReversed ? $0 <= key : $0 >= key }
      let first = isReversed ? next.max() : next.min()
      #expect(answer.match(0, from: start) == first?.id ?? ids.first)
    }
    for id in [1, 2, 50, 299, 300] { check(ID(UInt64(id))) }
    for number in stride(from: 2, to: 200, by: 3) {
      let id = ID(UInt64(number))
      guard let old = known[id] else { continue }
      var new = old
      new.state = .executing
      if number % 2 == 0 { new.name = number % 4 == 0 ? "job again" : "other" }
      search.replace(SortKey(old), by: SortKey(new), new)
      known[id] = new
    }
    check(ID(2))
    for number in 250..<280 {
      guard let old = known.removeValue(forKey: ID(UInt64(number))) else { continue }
      search.replace(SortKey(old), by: nil, old)
    }
    check(ID(1))
    check(ID(260))
  }
}

/// Tests of searches in the updates that a viewer receives. The changes come from a real queue.
@Suite("Searches of a viewer") final class ViewerSearchTests {
  private let watched = WatchedQueue()
  private let session = SessionID(rawValue: 1)

  private func update(_ interest: Interest) throws -> Update {
    watched.table.keepList(for: session, interest, at: MonitorTime.now)
    let list = try #require(watched.table.lists[session])
    list.fill(from: watched.table, until: .now + .seconds(60))
    while watched.table.isFilling {
      _ = watched.table.fillSearchTexts(until: .now + .milliseconds(2))
    }
    return list.takeUpdate(from: watched.table)
  }

  private func add(_ names: [String]) {
    watched.queue.isSuspended = true
    watched.queue.addOperations(
      names.map { name in
        let operation = BlockOperation {}
        operation.name = name
        return operation
      }, waitUntilFinished: false)
    watched.read()
  }

  @Test("A search finds an operation beyond the rows of the list, and reports it")
  func operationsBeyondTheRowsAreFound() throws {
    add((1...2_000).map { "job \($0)" })
    var interest = Interest(rowLimit: 10)
    #expect(try update(interest).matches == nil)
    #expect(watched.table.searchTexts == nil, "without a search, no texts are collected")
    interest.search = .init(text: "")
    #expect(try update(interest).matches?.count == 0)
    interest.search = .init(text: "JOB 1999")
    let found = try update(interest)
    let id = try #require(found.matches?.ids.first)
    #expect(found.matches?.count == 1)
    #expect(found.changed.contains { $0.id == id && $0.name == "job 1999" })
    interest.search = .init(text: "job 19", start: id)
    #expect(try update(interest).matches?.count == 111)
    // An operation that is added later is found, too.
    add(["job 19 late"])
    #expect(try update(interest).matches?.count == 112)
    interest.search = nil
    #expect(try update(interest).matches == nil && watched.table.searchTexts == nil)
    watched.finishAll()
  }

  @Test("While the list is rebuilt, the update contains the last matches")
  func matchesWhileRebuilding() throws {
    add((1...1_000).map { "job \($0)" })
    var interest = Interest(filter: try OperationFilter("age>0s"), rowLimit: 10)
    interest.search = .init(text: "job")
    #expect(try update(interest).matches?.count == 1_000)
    let list = try #require(watched.table.lists[session])
    list.refreshIfDue(from: watched.table, at: MonitorTime.now + .seconds(60))
    try #require(list.isFilling)
    #expect(list.takeUpdate(from: watched.table).matches?.count == 1_000)
    // The matches of an earlier filter are not sent.
    interest.filter = nil
    watched.table.keepList(for: session, interest, at: MonitorTime.now)
    #expect(list.takeUpdate(from: watched.table).matches == nil)
    watched.finishAll()
  }

  @Test("A search concerns only the operations of the list")
  func theFilterApplies() throws {
    add((1...100).flatMap { ["alpha job \($0)", "beta job \($0)"] })
    var interest = Interest(filter: try OperationFilter("alpha"), rowLimit: 10)
    interest.search = .init(text: "job")
    #expect(try update(interest).matches?.count == 100)
    interest.filter = nil
    #expect(try update(interest).matches?.count == 200)
    interest.showsWarnedOnly = true
    #expect(try update(interest).matches?.count == 0)
    watched.finishAll()
  }
}
