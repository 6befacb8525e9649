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
      key: .kind(kind), counts: counts, times: TimeStatistics(run: run),
      runBuckets: runs.map { [$0, 1] } ?? [])
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
    let ends = MergedEnds()
    let request = Interest.GroupsRequest(by: .kind, limit: 2)
    let merged = try #require(OperationGroups(merging: parts, for: request, ends: ends))
    #expect(merged.groups.map(\.key) == [.kind("a"), .kind("b")])
    let first = merged.groups[0]
    #expect(first.counts == StateCounts(executing: 4, finished: 2, total: 6))
    #expect(first.runBuckets == [14, 2])
    #expect(merged.groups[1].runBuckets == [2, 1])
    let byQueue = OperationGroups(merging: parts, for: .init(by: .queue), ends: ends)
    #expect(byQueue?.otherCount == 100)
    #expect(OperationGroups(merging: [], for: .init(by: .queue), ends: ends) == nil)
  }

  @Test("GR-2: A group has times only if they are the times of one process")
  func mergedTimes() throws {
    let parts = [5, 9, nil, 2].map { runs in
      OperationGroups(
        by: .kind,
        groups: [
          group("a", executing: 3, runs: runs), group("b", executing: 2, runs: runs == 9 ? 9 : nil),
        ])
    }
    let merged = try #require(
      OperationGroups(merging: parts, for: .init(by: .kind), ends: MergedEnds()))
    #expect(merged.groups[0].times == TimeStatistics())
    #expect(merged.groups[0].runBuckets == [16, 3])
    #expect(merged.groups[1].times.run?.count == 9)
  }

  @Test("GC-6: The number of further groups is the smallest possible one")
  func furtherGroups() throws {
    func part(_ kinds: [String], further: Int, by: OperationGroups.By = .kind) -> OperationGroups {
      OperationGroups(
        by: by, groups: kinds.map { group($0, executing: 1) }, otherCount: further)
    }
    func count(_ parts: [OperationGroups], by: OperationGroups.By = .kind, limit: Int) -> Int? {
      OperationGroups(merging: parts, for: .init(by: by, limit: limit), ends: MergedEnds())?
        .otherCount
    }
    // Both processes have the same three kinds, and each has sent two of them.
    #expect(count([part(["a", "b"], further: 1), part(["a", "c"], further: 1)], limit: 2) == 1)
    #expect(count([part(["a", "b"], further: 1), part(["a", "c"], further: 1)], limit: 3) == 0)
    #expect(count([part(["a"], further: 7), part(["b"], further: 0)], limit: 1) == 7)
    #expect(count([part(["a", "b"], further: 0), part(["c"], further: 1)], limit: 1) == 2)
    // A queue is never in two processes.
    let queues = [part(["a", "b"], further: 3, by: .queue), part(["c"], further: 4, by: .queue)]
    #expect(count(queues, by: .queue, limit: 3) == 7)
  }

  private func say(
    _ number: Int, _ ended: [String: Int]?, by: OperationGroups.By = .kind,
    in scene: inout MergeScene
  ) {
    let groups = ended?.sorted { $0.key < $1.key }.map { kind, count in
      var group = group(kind, executing: 1)
      group.endedCount = count
      return group
    }
    scene.say(number, .update(update(groups.map { OperationGroups(by: by, groups: $0) })))
  }

  /// Returns the number of ended operations of each kind in the next update to the viewer; `nil` if it has no groups.
  private func ended(in scene: inout MergeScene) throws -> [String: Int]? {
    let update = try #require(scene.updates(in: scene.take()).last)
    return update.groups.map { groups in
      Dictionary(
        uniqueKeysWithValues: groups.groups.map { group in
          guard case .kind(let kind) = group.key else { return ("", group.endedCount) }
          return (kind, group.endedCount)
        })
    }
  }

  private func scene(of count: Int) -> MergeScene {
    var scene = MergeScene.heard(count)
    var interest = Interest()
    interest.groups = .init(by: .kind)
    _ = scene.merge.watch(interest, at: scene.now)
    return scene
  }

  @Test("GC-6: The groups do not wait for a process that still counts its operations")
  func processesAnswerOneAfterTheOther() throws {
    var scene = scene(of: 3)
    func groups() throws -> OperationGroups? {
      try #require(scene.updates(in: scene.take()).last).groups
    }
    say(3, ["a": 7], by: .queue, in: &scene)
    #expect(try groups() == nil)
    say(1, ["a": 10], in: &scene)
    var merged = try #require(try groups())
    #expect(merged.groups.map(\.endedCount) == [0] && merged.countingProcessCount == 2)
    say(1, ["a": 12], in: &scene)
    say(2, ["a": 300_000, "b": 5], in: &scene)
    merged = try #require(try groups())
    // The operations that ended before the first groups of a process do not count.
    #expect(merged.groups.map(\.endedCount) == [2, 0] && merged.countingProcessCount == 1)
    #expect(merged.groups.map(\.counts.executing) == [2, 1])
    scene.say(3, .silent(for: .seconds(2)))
    merged = try #require(try groups())
    #expect(merged.groups.map(\.endedCount) == [2, 0] && merged.countingProcessCount == 0)
    say(2, ["a": 300_004, "b": 6], in: &scene)
    #expect(try ended(in: &scene) == ["a": 6, "b": 1])
  }

  /// Returns the kinds in the next update to the viewer whose numbers of ended operations may be too low.
  private func incomplete(in scene: inout MergeScene) throws -> [OperationGroups.Key] {
    let update = try #require(scene.updates(in: scene.take()).last)
    return update.groups?.groups.filter(\.lacksEnds).map(\.key) ?? []
  }

  @Test(
    "GR-8: If a process starts or stops sending a kind, the ended operations of this kind are unknown"
  )
  func aKindLeavesOneProcess() throws {
    var scene = scene(of: 2)
    say(1, ["a": 10, "b": 1], in: &scene)
    say(2, ["a": 20], in: &scene)
    #expect(try incomplete(in: &scene) == [.kind("a"), .kind("b")])
    say(1, ["a": 11, "b": 1], in: &scene)
    say(2, ["a": 24], in: &scene)
    #expect(try incomplete(in: &scene) == [])
    // The kind has left the groups of the process with its last operations.
    say(2, [:], in: &scene)
    say(1, ["a": 12, "b": 2], in: &scene)
    #expect(try incomplete(in: &scene) == [.kind("a")])
    say(1, ["a": 13, "b": 3], in: &scene)
    #expect(try incomplete(in: &scene) == [])
    say(2, ["a": 29], in: &scene)
    #expect(try incomplete(in: &scene) == [.kind("a")])
    // It also is unknown if the kind leaves and returns between two updates to the viewer.
    say(1, ["b": 3], in: &scene)
    say(1, ["a": 17, "b": 3], in: &scene)
    #expect(try incomplete(in: &scene) == [.kind("a")])
    scene.say(1, .silent(for: .seconds(3)))
    scene.say(1, .silent(for: .zero))
    say(1, ["a": 90, "b": 30], in: &scene)
    #expect(try incomplete(in: &scene) == [.kind("a"), .kind("b")])
    // A process has ended with its last operations.
    scene.say(2, .ended(reason: "exited"))
    #expect(try incomplete(in: &scene) == [.kind("a")])
    say(1, ["a": 91, "b": 31], in: &scene)
    #expect(try incomplete(in: &scene) == [])
  }

  @Test("GC-6: The groups do not wait for a process with an older version of opq")
  func olderProcess() throws {
    var scene = scene(of: 2)
    var hello = try #require(scene.hello(in: [.hello(Self.olderHello)]))
    hello.sendsQueueDetails = false
    scene.say(2, .hello(hello))
    say(1, ["a": 10], in: &scene)
    #expect(try ended(in: &scene) == ["a": 0])
  }

  private static let olderHello = Hello(
    processName: "old", processID: 1, isReadOnly: true, anchor: MonitorTime(nanoseconds: 0),
    anchorSecondsSince1970: 0, processStarted: MonitorTime(nanoseconds: 0))

  @Test(
    "GC-6: Operations that end while a process does not answer, or while it does not send their group, do not count"
  )
  func interruptions() throws {
    var scene = scene(of: 2)
    say(1, ["a": 10, "b": 1], in: &scene)
    say(2, ["a": 20], in: &scene)
    #expect(try ended(in: &scene) == ["a": 0, "b": 0])
    scene.say(2, .disconnected(reason: "lost"))
    say(1, ["a": 11], in: &scene)
    #expect(try ended(in: &scene) == ["a": 1])
    scene.greet(2)
    say(1, ["a": 12, "b": 900], in: &scene)
    say(2, ["a": 5_000], in: &scene)
    #expect(try ended(in: &scene) == ["a": 2, "b": 0])
    say(1, ["a": 12, "b": 901], in: &scene)
    say(2, ["a": 5_003], in: &scene)
    #expect(try ended(in: &scene) == ["a": 5, "b": 1])
    scene.say(2, .silent(for: .seconds(3)))
    scene.say(2, .silent(for: .zero))
    say(2, ["a": 9_000], in: &scene)
    #expect(try ended(in: &scene) == ["a": 5, "b": 1])
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
