// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCollector

@Suite("The number of groups that a list counts")
struct GroupLimitTests {
  /// Returns an operation whose kind contains its number.
  private func report(
    _ number: some BinaryInteger, _ state: MonitorProtocol.OperationState = .ready
  ) -> OperationReport {
    OperationReport(
      id: .init(UInt64(number)), name: "", className: "K\(number)", queue: .init(1), state: state)
  }

  @Test("GC-3: The states of at most 10,000 groups are counted, and the number of the others")
  func manyKinds() {
    var counts = GroupCounts(by: .kind)
    let total = GroupCounts.mostGroups + 50
    for number in 0..<total { counts.add(report(number)) }
    #expect(counts.groups(limit: 5) { _ in }.otherCount == total - 5)
    counts.remove(report(0))
    counts.add(report(total))
    #expect(!counts.mustCountAgain)
    // The group of the removed operation is free, but an operation of another group is not counted.
    #expect(counts.groups(limit: .max) { _ in }.groups.count == GroupCounts.mostGroups - 1)
    #expect(counts.groups(limit: .max) { _ in }.otherCount == 51)
    for number in 1...total { counts.remove(report(number)) }
    #expect(counts.groups(limit: .max) { _ in } == OperationGroups(by: .kind))
    counts.add(report(7, .executing))
    #expect(counts.groups(limit: .max) { _ in }.groups.map(\.key) == [.kind("K7")])
  }

  @Test("GC-3: A further group with many operations is one group")
  func furtherKinds() {
    var counts = GroupCounts(by: .kind)
    var otherCount: Int { counts.groups(limit: 0) { _ in }.otherCount }
    for number in 0..<GroupCounts.mostGroups { counts.add(report(number)) }
    let (first, second) = (GroupCounts.mostGroups, GroupCounts.mostGroups + 1)
    for _ in 0..<3 { counts.add(report(first)) }
    for _ in 0..<2 { counts.add(report(second)) }
    #expect(otherCount == GroupCounts.mostGroups + 2)
    counts.replace(report(first), by: report(first, .executing))
    counts.replace(report(first), by: report(second))
    #expect(otherCount == GroupCounts.mostGroups + 2)
    counts.replace(report(first), by: report(0))
    counts.remove(report(first, .executing))
    #expect(otherCount == GroupCounts.mostGroups + 1)
    for _ in 0..<3 { counts.remove(report(second)) }
    #expect(otherCount == GroupCounts.mostGroups)
  }

  @Test(
    "GC-3: After there were too many kinds, the operations are counted again when half are gone")
  func fewerKinds() {
    let total = UInt64(GroupCounts.mostGroups) + 50
    var order = FilledOrder()
    let now = MonitorTime(nanoseconds: 100_000_000_000)
    order.begin(with: (0..<total).map { .init($0) }, countsGroups: true)
    order.fill(
      until: .now + .seconds(60), counting: { (SortKey(report($0.rawValue)), report($0.rawValue)) })
    func remove(_ numbers: Range<UInt64>) {
      for number in numbers {
        order.replace(SortKey(report(number)), report(number), by: nil, report(number))
      }
    }
    let half = UInt64(GroupCounts.mostGroups / 2)
    remove(50..<half + 50)
    // The 50 operations without a group remain, and exactly half of the groups.
    #expect(order.nextRecount == nil)
    remove(0..<1)
    order.recountIfDue(at: now)
    #expect(order.isCounting)
    // The earlier groups are sent until the new ones are complete.
    #expect(order.groups?[.kind].groups(limit: 0) { _ in }.otherCount == Int(half) + 49)
    order.count(until: .now + .seconds(60)) { report($0.rawValue) }
    let groups = order.groups?[.kind].groups(limit: .max) { _ in }
    #expect(groups?.otherCount == 0 && groups?.groups.count == Int(half) + 49)
    #expect(groups?.groups.contains { $0.key == .kind("K\(total - 1)") } == true)
    #expect(order.nextRecount == nil)
  }

  @Test("GC-3: The operations are counted again at most once in five seconds")
  func recountInterval() {
    var order = FilledOrder()
    order.begin(with: [], countsGroups: true)
    let now = MonitorTime(nanoseconds: 100_000_000_000)
    for time in [now, now + .seconds(5) - .nanoseconds(1)] {
      #expect(order.nextRecount == nil)
      let numbers = 0...UInt64(GroupCounts.mostGroups)
      for number in numbers {
        order.replace(nil, report(number), by: SortKey(report(number)), report(number))
      }
      for number in numbers.dropLast() {
        order.replace(SortKey(report(number)), report(number), by: nil, report(number))
      }
      order.recountIfDue(at: time - .nanoseconds(1))
      #expect(order.isCounting == (time == now))
      order.recountIfDue(at: time)
      #expect(order.isCounting)
      order.count(until: .now + .seconds(60)) { report($0.rawValue) }
      let last = numbers.upperBound
      #expect(
        order.groups?[.kind].groups(limit: 5) { _ in }.groups.map(\.key) == [.kind("K\(last)")])
      order.replace(SortKey(report(last)), report(last), by: nil, report(last))
    }
  }
}
