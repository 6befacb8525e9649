// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The interest of a viewer of several processes in each process")
struct MultiProcessInterestTests {
  private typealias ID = OperationReport.ID
  private let scene = MergeScene(count: 3)

  @Test func eachProcessReceivesItsOperationsAndTheFullRowLimit() {
    var merge = MergeScene(count: 3).merge
    var interest = Interest(
      order: SortOrder(by: .name), rowLimit: 40,
      operations: [scene.id(1, 7), scene.id(2, 7), scene.id(2, 8)],
      graphs: [Interest.Graph(root: scene.id(2, 9), direction: .blocks, limit: 5)],
      subjects: [scene.id(3, 1)])
    interest.detail = scene.id(1, 7)
    let wishes = merge.watch(interest, at: scene.now)
    #expect(wishes.map(\.process) == [1, 2, 3])
    #expect(wishes.allSatisfy { $0.interest.rowLimit == 40 && $0.interest.order.column == .name })
    #expect(wishes.map(\.interest.operations) == [[ID(7)], [ID(7), ID(8)], []])
    #expect(wishes.map { $0.interest.graphs.map(\.root) } == [[], [ID(9)], []])
    #expect(wishes.map(\.interest.subjects) == [[], [], [ID(1)]])
    #expect(wishes.map(\.interest.detail) == [ID(7), nil, nil])
  }

  @Test("A request for run orders is sent to the processes of its queues, or to all")
  func runOrders() {
    func requests(_ queues: Set<QueueReport.ID>) -> [Interest.RunOrderRequest?] {
      var interest = Interest()
      interest.runOrder = .init(queues: queues, limit: 40)
      return (1...3).map { ProcessTranslation(number: $0).own(interest).runOrder }
    }
    let all = Interest.RunOrderRequest(limit: 40)
    #expect(requests([]) == [all, all, all])
    // The last id is not one that a viewer has received.
    #expect(
      requests([.init(2 << 56 | 4), .init(3 << 56 | 4), .init(3 << 56 | 5), .init(7)])
        == [
          nil, .init(queues: [.init(4)], limit: 40),
          .init(queues: [.init(4), .init(5)], limit: 40),
        ])
  }

  @Test("Ids in run orders and groups have the number of their process, and wrong ids are left out")
  func translatedViews() throws {
    var queue = QueueReport(id: .init(4), name: "io")
    (queue.times, queue.startedCount) = (TimeStatistics(), 7)
    var update = Update(time: MonitorTime(nanoseconds: 1), queues: [queue])
    update.runOrders = [
      RunOrder(
        queue: .init(4), executing: [ID(7), ID(.max)], ready: [ID(.max), ID(8)], isCut: true),
      RunOrder(queue: .init(.max)),
    ]
    update.groups = OperationGroups(
      by: .queue,
      groups: [.init(key: .queue(.init(4)), endedCount: 3), .init(key: .queue(.init(.max)))],
      otherCount: 2)
    let translation = ProcessTranslation(number: 2)
    var merged = translation.merged(update)
    let own = try #require(QueueReport.ID(4).numbered(2))
    #expect(merged.queues == [queue.identified(as: own)] && merged.queues[0].startedCount == 7)
    #expect(
      merged.runOrders == [
        RunOrder(queue: own, executing: [scene.id(2, 7)], ready: [scene.id(2, 8)], isCut: true)
      ])
    #expect(
      merged.groups
        == OperationGroups(
          by: .queue, groups: [.init(key: .queue(own), endedCount: 3)], otherCount: 2))
    update.groups = OperationGroups(by: .kind, groups: [.init(key: .kind("merge"))])
    merged = translation.merged(update)
    #expect(merged.groups == update.groups)
  }

  @Test func onlyProcessesWithAChangedInterestReceiveARequest() {
    var merge = MergeScene(count: 3).merge
    var interest = Interest()
    interest.operations = [scene.id(2, 7)]
    #expect(merge.watch(interest, at: scene.now).map(\.process) == [2])
    #expect(merge.watch(interest, at: scene.now).isEmpty)
    interest.operations = [scene.id(3, 7)]
    #expect(merge.watch(interest, at: scene.now).map(\.process) == [2, 3])
  }

  @Test("A filter that names a process is rewritten for each process")
  func filters() throws {
    var merge = MergeScene(count: 2).merge
    func texts(_ text: String) throws -> [String?] {
      let filter = try OperationFilter(text)
      let wishes = merge.watch(Interest(filter: filter), at: scene.now)
      return (1...2).map { number in
        wishes.first { $0.process == number }?.interest.filter?.text
      }
    }
    #expect(try texts("state:exec !2#1042") == ["state:exec !#0", "state:exec !#1042"])
    #expect(try texts("tiles|2#7 \"2#7\"") == ["tiles|#0 \"2#7\"", "tiles|#7 \"2#7\""])
    #expect(try texts("#1042") == ["#1042", "#1042"])
    #expect(try texts("2#") == ["#0", "\"\""])
  }

  @Test("The delay of a late update is in only one merged update")
  func delays() {
    var scene = MergeScene.heard(2)
    func report(_ number: Int, _ delay: Duration) -> Duration? {
      var update = MergeScene.update([])
      update.behind = delay
      scene.say(number, .update(update))
      return scene.updates(in: scene.take()).first?.behind
    }
    #expect(report(1, .seconds(2)) == .seconds(2))
    #expect(report(2, .zero) == .zero)
  }

  @Test func dependentsAreCompleteWhenEachProcessHasAnswered() {
    var scene = MergeScene.heard(3)
    let interest = Interest(subjects: [scene.id(1, 1), scene.id(2, 1)])
    _ = scene.merge.watch(interest, at: scene.now)
    func answer(_ number: Int, _ ids: [UInt64]) {
      var update = MergeScene.update([])
      update.dependents = Dependents(subjects: [ID(1)], ids: ids.map { ID($0) })
      scene.say(number, .update(update))
    }
    answer(2, [4])
    #expect(scene.updates(in: scene.take()).first?.dependents?.subjects == [scene.id(2, 1)])
    answer(1, [3, 5])
    let reported = scene.updates(in: scene.take()).first?.dependents
    #expect(reported?.subjects == interest.subjects)
    #expect(reported?.ids == [scene.id(1, 3), scene.id(1, 5), scene.id(2, 4)])
    // The merged answer about dependents does not wait for a process that has ended.
    scene.say(2, .ended(reason: "the process has exited"))
    let left = scene.updates(in: scene.take()).first?.dependents
    #expect(left?.subjects == interest.subjects)
    #expect(left?.ids == [scene.id(1, 3), scene.id(1, 5)])
  }

  @Test func answersToAnEarlierInterestAreDropped() {
    var scene = MergeScene.heard(2)
    var interest = Interest()
    interest.detail = scene.id(1, 7)
    interest.rootLimit = 10
    _ = scene.merge.watch(interest, at: scene.now)
    var update = MergeScene.update([.executing(7)])
    update.detail = OperationDetail(id: ID(7))
    update.rootCount = 1
    scene.say(1, .update(update))
    let reported = scene.updates(in: scene.take()).first
    #expect(reported?.detail?.id == scene.id(1, 7))
    // There is no total number of roots (operations without dependents), because the other process
    // has not reported its number yet.
    #expect(reported?.rootCount == nil)
    _ = scene.merge.watch(Interest(), at: scene.now)
    let later = scene.updates(in: scene.take()).first
    #expect(later != nil && later?.detail == nil && later?.rootCount == nil)
  }

  @Test func timesAreReportedIfOnlyOneProcessHasThem() {
    var scene = MergeScene.heard(2)
    var update = MergeScene.update([])
    let percentiles = Percentiles(
      count: 3, p50: .seconds(1), p90: .seconds(2), p99: .seconds(3))
    update.times = TimeStatistics(wait: nil, run: percentiles)
    scene.say(1, .update(update))
    #expect(scene.updates(in: scene.take()).first?.times.run == percentiles)
    scene.say(2, .update(update))
    #expect(scene.updates(in: scene.take()).first?.times == TimeStatistics())
  }

  @Test func unfinishedRunsAndThenTheNewestRunsStay() {
    var scene = MergeScene.heard(2)
    var interest = Interest()
    interest.timeline = Interest.Timeline(window: .seconds(60), limit: 3)
    _ = scene.merge.watch(interest, at: scene.now)
    let lengths: [Duration?] = [nil, .seconds(1), .seconds(1)]
    for number in 1...2 {
      var update = MergeScene.update([])
      var runs = RecentRuns(count: 5)
      for (index, length) in lengths.enumerated() {
        let start = scene.now + .seconds(10 * index + number)
        runs.runs.append(
          OperationRun(
            id: ID(UInt64(index + 1)), title: "", queue: .init(1), state: .executing,
            started: start, finished: length.map { start + $0 }))
      }
      update.runs = runs
      scene.say(number, .update(update))
    }
    let runs = scene.updates(in: scene.take()).first?.runs
    #expect(runs?.runs.map(\.id) == [scene.id(1, 1), scene.id(2, 1), scene.id(2, 3)])
    #expect(runs?.count == 10)
  }
}
