// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import RunAnalysis

@Suite("Slots, concurrency and distributions of a run") struct DrawnTimesTests {
  typealias Scene = RunScene

  private func spans(seed: UInt64) -> [Range<MonitorTime>] {
    var random = SeededGenerator(seed: seed)
    return (0..<200).map { _ in
      let start = Double(random.next() % 1_000) / 10
      return Scene.time(start)..<Scene.time(start + Double(random.next() % 100) / 10)
    }
  }

  @Test(
    "No two runs of a slot overlap, and no slot exceeds the number of simultaneous runs",
    arguments: 1...20
  )
  func lanes(seed: UInt64) {
    let spans = spans(seed: seed).filter { !$0.isEmpty }
    let runs = spans.enumerated().map { index, span in
      SlotLanes.Run(operation: Scene.id(index + 1), start: span.lowerBound, end: span.upperBound)
    }
    let lanes = SlotLanes(runs).lanes
    #expect(lanes.joined().count == runs.count)
    for lane in lanes {
      #expect(zip(lane, lane.dropFirst()).allSatisfy { $0.end <= $1.start }, "seed \(seed)")
    }
    let all = Scene.time(0)..<Scene.time(200)
    #expect(lanes.count == ConcurrencyCurve(spans, in: all, parts: 1).peak, "seed \(seed)")
  }

  @Test("The slots of a queue contain only its runs")
  func lanesOfQueue() throws {
    let history = try Scene.history([
      Scene.report(1, ready: 0, started: 1, finished: 3),
      Scene.report(2, ready: 0, started: 2, finished: 4),
      Scene.report(3, ready: 0, started: 3, finished: nil, state: .executing),
      Scene.report(4, queue: 2, ready: 0, started: 1, finished: 4),
      Scene.report(5, ready: 0, started: nil, finished: 4, state: .cancelled),
    ])
    let lanes = try #require(SlotLanes.ofQueues(in: history)[.init(1)]).lanes
    #expect(lanes.map { $0.map(\.operation) } == [[1, 3], [2]].map { $0.map(Scene.id) })
    #expect(lanes[0][1].end == history.end)
  }

  @Test("The parts of a curve have the same sum as the spans", arguments: 1...20)
  func concurrencyIsExact(seed: UInt64) {
    let spans = spans(seed: seed)
    let time = Scene.time(20)..<Scene.time(70)
    for parts in [1, 3, 64] {
      let curve = ConcurrencyCurve(spans, in: time, parts: parts)
      #expect(curve.means.count == parts && curve.means.allSatisfy { $0 > -1e-9 })
      let covered = spans.map { $0.clamped(to: time) }.reduce(0) {
        $0 + Double($1.upperBound.nanoseconds - $1.lowerBound.nanoseconds)
      }
      #expect(abs(curve.mean - covered / 50e9) < 1e-6, "seed \(seed)")
      #expect(Double(curve.peak) >= curve.mean)
    }
  }

  @Test("The height of a curve is the number of spans, and an end precedes a beginning")
  func concurrencyByHand() {
    let spans = [(0, 2), (1, 3), (2, 4), (8, 8)].map { Scene.time($0)..<Scene.time($1) }
    let curve = ConcurrencyCurve(spans, in: Scene.time(0)..<Scene.time(8), parts: 8)
    #expect(curve.means == [1, 2, 2, 1, 0, 0, 0, 0] && curve.peak == 2 && curve.mean == 0.75)
    let none = ConcurrencyCurve([Range<MonitorTime>](), in: Scene.time(3)..<Scene.time(3), parts: 2)
    #expect(none.means == [0, 0] && none.peak == 0)
  }

  @Test("A curve between samples has the value of the previous sample")
  func sampled() throws {
    var updates = [0, 2, 6].map { Scene.update($0) }
    for (index, executing) in [1, 5, 3].enumerated() {
      updates[index].queues = [Scene.queue(1, StateCounts(executing: executing, total: executing))]
    }
    let history = try Scene.history(updates)
    let time = Scene.time(0)..<Scene.time(8)
    let curve = ConcurrencyCurve(history.samples, \.executing, in: time, parts: 4)
    #expect(curve.means == [1, 5, 5, 3] && curve.peak == 5)
    #expect(ConcurrencyCurve([], \.ready, in: time, parts: 2).means == [0, 0])
  }

  @Test("Percentiles are durations that occurred")
  func percentiles() throws {
    let ten = try #require(Distribution((1...10).reversed().map { Duration.seconds($0) }))
    #expect(
      [0, 10, 50, 90, 99, 100].map { ten.percentile($0) }
        == [1, 1, 5, 9, 10, 10].map { .seconds($0) })
    #expect(ten.total == .seconds(55) && ten.longest == .seconds(10) && ten.count == 10)
    #expect(Distribution([.seconds(3)])?.percentile(50) == .seconds(3))
    #expect(Distribution([Duration]()) == nil)
  }

  @Test("The slowest class is the one with the longest time that nine of ten runs do not exceed")
  func slowest() throws {
    let history = try Scene.history([
      Scene.report(1, className: "Fast", ready: 0, started: 0, finished: 1),
      Scene.report(2, className: "Slow", ready: 1, started: 3, finished: 9),
      Scene.report(3, className: "Fast", ready: 0, started: 0, finished: 2),
      Scene.report(4, className: "Never", ready: 0, started: nil, finished: 2, state: .cancelled),
      Scene.report(5, className: "Also", ready: nil, started: 3, finished: 9),
    ])
    let classes = KindDistributions.slowest(of: history)
    #expect(classes.map(\.kind) == ["Also", "Slow", "Fast"])
    #expect(classes.map(\.work.count) == [1, 1, 2])
    #expect(classes.map { $0.slotWait?.longest } == [nil, .seconds(2), .zero])
  }
}
