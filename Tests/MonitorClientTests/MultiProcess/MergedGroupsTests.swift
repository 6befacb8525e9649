// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The groups and run orders of several processes")
struct MergedGroupsTests {
  private func group(
    _ kind: String, executing: Int, finished: Int = 0, runs: Int? = nil
  ) -> OperationGroups.Group {
    let counts = StateCounts(
      executing: executing, finished: finished, total: executing + finished)
    let run = runs.map {
      Percentiles(count: $0, p50: .seconds($0), p90: .seconds($0), p99: .seconds($0))
    }
    return OperationGroups.Group(
      key: .kind(kind), counts: counts, endedCount: finished,
      times: TimeStatistics(run: run), runBuckets: runs.map { [$0, 1] } ?? [])
  }

  private func update(_ groups: OperationGroups?) -> Update {
    var update = MergeScene.update([])
    update.groups = groups
    update.runOrders = [RunOrder(queue: .init(1), ready: [.init(7)])]
    return update
  }

  @Test("GC-6: The groups of the same kind in several processes are one group")
  func mergedGroups() throws {
    let parts = [
      OperationGroups(
        by: .kind, groups: [group("a", executing: 1, runs: 5), group("b", executing: 2)],
        otherCount: 4),
      OperationGroups(
        by: .kind,
        groups: [
          group("c", executing: 1), group("a", executing: 3, finished: 2, runs: 9),
          group("b", executing: 0, finished: 1, runs: 2),
        ], otherCount: 1),
      OperationGroups(by: .queue, groups: [], otherCount: 100),
    ]
    let merged = try #require(OperationGroups(merging: parts, for: .init(by: .kind, limit: 2)))
    #expect(merged.groups.map(\.key) == [.kind("a"), .kind("b")] && merged.otherCount == 6)
    let first = merged.groups[0]
    #expect(first.counts == StateCounts(executing: 4, finished: 2, total: 6))
    #expect(first.endedCount == 2 && first.runBuckets == [14, 2])
    // The percentiles are those of the process with the most times.
    #expect(first.times.run?.count == 9)
    #expect(merged.groups[1].runBuckets == [2, 1] && merged.groups[1].times.run?.count == 2)
    #expect(OperationGroups(merging: parts, for: .init(by: .queue))?.otherCount == 100)
    #expect(OperationGroups(merging: [], for: .init(by: .queue)) == nil)
  }

  @Test("GC-6: After a process has ended, its groups have only its finished operations")
  func endedProcess() throws {
    var scene = MergeScene.heard(2)
    var interest = Interest()
    interest.groups = .init(by: .kind)
    _ = scene.merge.watch(interest, at: scene.now)
    let groups = [group("a", executing: 2, finished: 1), group("b", executing: 1)]
    for number in 1...2 {
      scene.say(number, .update(update(OperationGroups(by: .kind, groups: groups))))
    }
    var merged = try #require(scene.updates(in: scene.take()).last)
    #expect(merged.groups?.groups.map(\.counts.executing) == [4, 2])
    #expect(merged.runOrders.map(\.ready) == [[scene.id(1, 7)], [scene.id(2, 7)]])
    scene.say(2, .ended(reason: "exited"))
    merged = try #require(scene.updates(in: scene.take()).last)
    #expect(merged.groups?.groups.map(\.counts.executing) == [2, 1])
    #expect(merged.groups?.groups.map(\.counts.finished) == [2, 0])
    #expect(merged.runOrders.map(\.ready) == [[scene.id(1, 7)]])
    interest.hidesOver = true
    _ = scene.merge.watch(interest, at: scene.now)
    #expect(
      scene.updates(in: scene.take()).last?.groups?.groups.map(\.counts.finished) == [1, 0])
    _ = scene.merge.watch(Interest(), at: scene.now)
    #expect(scene.updates(in: scene.take()).last?.groups == nil)
  }
}
