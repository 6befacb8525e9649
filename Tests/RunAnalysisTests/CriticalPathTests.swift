// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import RunAnalysis

@Suite("The critical path of a run") struct CriticalPathTests {
  typealias Scene = RunScene

  /// Returns a text for each part of a critical path: the operation, the kind, and the start and
  /// the end in seconds.
  private func words(_ path: CriticalPath?) -> [String] {
    path?.segments.map {
      let (start, end) = ($0.start.nanoseconds, $0.end.nanoseconds)
      return "\($0.operation) \($0.kind) \(start / 1_000_000_000)-\(end / 1_000_000_000)"
    } ?? []
  }

  @Test(
    "The path leads from the last operation to its last dependency, and so on")
  func followsTheLastDependency() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 0, finished: 2),
      Scene.report(2, [1], ready: 2, started: 2, finished: 9),
      Scene.report(3, [1], ready: 2, started: 2, finished: 5),
      Scene.report(4, [2, 3], ready: 9, started: 9, finished: 12),
      Scene.report(5, ready: 0, started: 0, finished: 11),
    ])
    let path = try #require(CriticalPath(of: history))
    #expect(path.isOfWholeRun && path.operations == [1, 2, 4].map(Scene.id))
    #expect(words(path) == ["#1 work 0-2", "#2 work 2-9", "#4 work 9-12"])
    #expect(path.duration == .seconds(12) && path.total(of: .work) == .seconds(12))
  }

  @Test("Waiting for a slot is distinguished from work, with the operation that freed the slot")
  func reportsSlotWait() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 0, finished: 2),
      Scene.report(7, ready: 0, started: 0, finished: 5),
      Scene.report(6, ready: 0, started: 2, finished: 8),
      Scene.report(8, queue: 2, ready: 0, started: 0, finished: 6),
      Scene.report(2, [1], ready: 2, started: 6, finished: 9),
    ])
    let path = try #require(CriticalPath(of: history))
    #expect(words(path) == ["#1 work 0-2", "#2 slotWait 2-6", "#2 work 6-9"])
    // Operation 7 freed the slot for operation 2. Operation 8 finished later than operation 7, but
    // it was in another queue.
    #expect(path.segments.map(\.freedBy) == [nil, Scene.id(7), nil])
    #expect(path.total(of: .slotWait) == .seconds(4) && path.total(of: .work) == .seconds(5))
  }

  @Test(
    "If slots were free, no operation has freed one: a barrier was ahead, or the queue was suspended"
  )
  func freedByNoOperation() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 0, finished: 4),
      Scene.report(2, ready: 0, started: 6, finished: 9),
    ])
    let path = try #require(CriticalPath(of: history))
    #expect(words(path) == ["#2 slotWait 0-6", "#2 work 6-9"])
    #expect(path.segments.map(\.freedBy) == [nil, nil])
  }

  @Test("The path of a join with very many dependencies is found in time")
  func manyDependencies() throws {
    let first = (1...3_000).map { Scene.report($0, ready: 0, started: 0, finished: Double($0 % 7)) }
    let join = Scene.report(
      5_000, Array(1...3_000), ready: 7, started: 7, finished: 8)
    let rest = (6_001...9_000).map {
      Scene.report($0, [5_000], ready: 8, started: 8, finished: 9)
    }
    let open = Scene.report(9_999, ready: 0, started: 0, finished: nil, state: .executing)
    let path = CriticalPath(of: try Scene.history(first + [join] + rest + [open]))
    #expect(path?.operations == [6, 5_000, 6_001].map(Scene.id))
  }

  @Test("Waiting for something that is not on the path counts as waiting for a dependency")
  func reportsDependencyWait() throws {
    // #1 depends on #9, which was not recorded. #2 became ready 3 s after its dependency #1 had
    // finished, for a reason that was not recorded.
    let history = try Scene.history([
      Scene.report(1, [9], added: 0, ready: 4, started: 4, finished: 5),
      Scene.report(2, [1], added: 0, ready: 8, started: 8, finished: 9),
    ])
    #expect(
      words(CriticalPath(of: history)) == [
        "#1 dependencyWait 0-4", "#1 work 4-5", "#2 dependencyWait 5-8", "#2 work 8-9",
      ])
  }

  @Test(
    "The time until an operation was added, and the time of an unreported run, is not accounted for"
  )
  func reportsUnknownTime() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 0, finished: 2),
      Scene.report(2, [1], added: 5, ready: 5, started: nil, finished: 7),
      Scene.report(3, [2], added: 0, ready: nil, started: 7, finished: 8),
    ])
    #expect(
      words(CriticalPath(of: history)) == [
        "#1 work 0-2", "#2 unaccounted 2-5", "#2 unaccounted 5-7", "#3 work 7-8",
      ])
  }

  @Test("An operation that was cancelled before it started did no work")
  func ofCancelled() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 1, started: nil, finished: 4, state: .cancelled),
      Scene.report(2, [1], ready: 4, started: 4, finished: 5),
    ])
    #expect(
      words(CriticalPath(of: history)) == [
        "#1 dependencyWait 0-1", "#1 slotWait 1-4", "#2 work 4-5",
      ])
  }

  @Test("A dependency that finished after the operation was ready is not on the path")
  func skipsLateDependencies() throws {
    // #2 was cancelled at second 3, so it did not wait for #1, and #1 is not on the critical path.
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 0, finished: 6),
      Scene.report(2, [1], ready: 3, started: nil, finished: 7, state: .cancelled),
    ])
    #expect(CriticalPath(of: history)?.operations == [Scene.id(2)])
  }

  @Test("If not all operations have finished, it is the longest path")
  func longest() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 0, finished: 5),
      Scene.report(2, [1], ready: 5, started: 5, finished: 9),
      Scene.report(3, added: 8, ready: 8, started: 8, finished: 12),
      Scene.report(4, ready: 0, started: 2, finished: nil, state: .executing),
    ])
    let path = try #require(CriticalPath(of: history))
    #expect(!path.isOfWholeRun && path.operations == [1, 2].map(Scene.id))
    #expect(CriticalPath(to: Scene.id(3), in: history)?.operations == [Scene.id(3)])
    #expect(CriticalPath(to: Scene.id(4), in: history) == nil)
    #expect(CriticalPath(to: Scene.id(99), in: history) == nil)
  }

  @Test("If no operation has finished, there is no path")
  func none() throws {
    #expect(CriticalPath(of: try Scene.history([Scene.update(0)])) == nil)
    let running = Scene.report(1, ready: 0, started: 0, finished: nil, state: .executing)
    #expect(CriticalPath(of: try Scene.history([running])) == nil)
  }

  @Test("The path ends in a cycle of dependencies, which only a forged recording has")
  func circle() throws {
    let history = try Scene.history([
      Scene.report(1, [2], ready: 5, started: 5, finished: 5),
      Scene.report(2, [1], ready: 5, started: 5, finished: 5),
      Scene.report(3, ready: 5, started: 5, finished: nil, state: .executing),
    ])
    #expect(Set(CriticalPath(of: history)?.operations ?? []) == Set([1, 2].map(Scene.id)))
  }

  @Test(
    "Its parts have no gaps, each belongs to the path, and no path is longer", arguments: 1...40)
  func holdsForAnyRun(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var reports: [OperationReport] = []
    for number in 1...60 {
      let dependencies = (1..<number).filter { _ in random.next() % 12 == 0 }
      let added = Double(random.next() % 20)
      let met = dependencies.map { Double(reports[$0 - 1].finished?.nanoseconds ?? 0) / 1e9 }.max()
      let ready = max(added, met ?? 0) + Double(random.next() % 3)
      let started = ready + Double(random.next() % 4)
      reports.append(
        Scene.report(
          number, dependencies, added: added, ready: ready, started: started,
          finished: started + Double(random.next() % 5)))
    }
    let unfinished = Scene.report(99, ready: 0, started: 0, finished: nil, state: .executing)
    for history in [try Scene.history(reports), try Scene.history(reports + [unfinished])] {
      let path = try #require(CriticalPath(of: history), "seed \(seed)")
      let times = path.segments.map(\.start) + [try #require(path.segments.last).end]
      #expect(zip(path.segments.map(\.end), times.dropFirst()).allSatisfy { $0 == $1 })
      let sum = CriticalPath.Kind.allCases.reduce(Duration.zero) { $0 + path.total(of: $1) }
      #expect(sum == path.duration, "seed \(seed)")
      for (before, after) in zip(path.operations, path.operations.dropFirst()) {
        #expect(history.operations[after]?.dependencies.contains(before) == true)
      }
      guard !path.isOfWholeRun else { continue }
      let longest = reports.compactMap { CriticalPath(to: $0.id, in: history)?.duration }.max()
      #expect(path.duration == longest, "seed \(seed)")
    }
  }
}
