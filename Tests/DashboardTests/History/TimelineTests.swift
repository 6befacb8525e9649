// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Returns a run of an operation that begins and ends at the given seconds. If `end` is `nil`, the
/// run has not ended.
private func run(_ id: Int, _ start: Double, _ end: Double?) -> OperationRun {
  OperationRun(
    id: OperationReport.ID(id), title: "run", queue: Scene.cpu,
    state: end == nil ? .executing : .finished, started: Scene.seconds(start),
    finished: end.map(Scene.seconds))
}

@Suite("Slots of the timeline")
struct SlotAssignmentTests {
  private func ids(_ strips: [SlotAssignment.Strip]) -> [[UInt64]] {
    strips.map { $0.map(\.id.rawValue) }
  }

  @Test func consecutiveRunsShareASlot() {
    var slots = SlotAssignment()
    #expect(ids(slots.assign([run(1, 0, 1), run(2, 1, 2), run(3, 2.5, nil)])) == [[1, 2, 3]])
  }

  @Test func simultaneousRunsHaveSeparateSlots() {
    var slots = SlotAssignment()
    let strips = slots.assign([run(1, 0, 4), run(2, 1, 2), run(3, 2, nil), run(4, 5, 6)])
    #expect(ids(strips) == [[1, 4], [2, 3]])
  }

  @Test func aKnownRunKeepsItsSlot() {
    var slots = SlotAssignment()
    for _ in 0..<2 { _ = slots.assign([run(1, 0, 4), run(2, 1, nil)]) }
    // Run 1 is no longer in the timeline. Run 2 stays in the second row, so the new run 3 gets the
    // first row.
    #expect(ids(slots.assign([run(2, 1, nil), run(3, 5, nil)])) == [[3], [2]])
    #expect(ids(slots.assign([run(2, 1, 9), run(3, 5, nil)])) == [[3], [2]])
  }

  @Test func aLateEndAddsNoSlot() {
    var slots = SlotAssignment()
    for _ in 0..<2 { _ = slots.assign([run(1, 0, nil), run(2, 1, nil)]) }
    // Run 3 has begun because run 1 or run 2 has ended, but this end has not been reported yet.
    // Until it is reported, run 3 has a provisional row.
    let early = [run(1, 0, nil), run(2, 1, nil), run(3, 5, nil)]
    #expect(ids(slots.assign(early)) == [[1], [2], [3]])
    // If the same runs are assigned again without new reports, their rows in the timeline remain
    // provisional.
    #expect(ids(slots.assign(early, isNews: false)) == [[1], [2], [3]])
    #expect(ids(slots.assign([run(1, 0, nil), run(2, 1, 5), run(3, 5, nil)])) == [[1], [2, 3]])
  }

  @Test func aRunReportedLateFillsTheGap() {
    var slots = SlotAssignment()
    _ = slots.assign([run(1, 0, 1), run(3, 5, nil)])
    #expect(ids(slots.assign([run(1, 0, 1), run(2, 2, 3), run(3, 5, nil)])) == [[1, 2, 3]])
  }

  @Test func randomRunsOfAStripDoNotOverlap() {
    var random = SeededGenerator(seed: 5)
    var slots = SlotAssignment()
    for round in 0..<50 {
      let base = Double(round)
      let runs = (0..<40).map { index in
        let start = base + Double.random(in: 0...5, using: &random)
        let end = start + Double.random(in: 0...2, using: &random)
        return run(round * 20 + index, start, Bool.random(using: &random) ? end : nil)
      }.sorted { $0.started < $1.started }
      let strips = slots.assign(runs)
      #expect(strips.reduce(0) { $0 + $1.count } == runs.count)
      for strip in strips {
        for (first, second) in zip(strip, strip.dropFirst()) {
          #expect(first.finished.map { $0 <= second.started } == true, "round \(round)")
        }
      }
    }
  }
}

@Suite("Time of the timeline")
struct TimelineScaleTests {
  @Test func theLastCellContainsTheCurrentTime() {
    let scale = TimelineScale(window: .seconds(30), end: Scene.seconds(102.3), cells: 60)
    #expect(scale.cell(of: Scene.seconds(102.3)) == 59)
    #expect(scale.cell(of: Scene.seconds(102.5)) == 60)
    #expect(scale.cell(of: Scene.seconds(72.6)) == 0)
    #expect(scale.cell(of: Scene.seconds(72.4)) == -1)
    #expect(scale.nextStep(after: Scene.seconds(102.3)) == Scene.seconds(102.5))
  }

  @Test func finishedRunsKeepTheirWidth() {
    let past = run(1, 90.1, 93.7)
    var widths: Set<Int> = []
    for tenth in 0..<30 {
      let scale = TimelineScale(
        window: .seconds(30), end: Scene.seconds(102 + Double(tenth) / 10), cells: 47)
      widths.insert(scale.cells(of: past)?.count ?? 0)
    }
    #expect(widths.count == 1)
  }

  @Test func aRunIsCutAtTheWindow() {
    let scale = TimelineScale(window: .seconds(10), end: Scene.seconds(99.5), cells: 10)
    #expect(scale.cells(of: run(1, 0, nil)) == 0...9)
    #expect(scale.cells(of: run(2, 92, 94)) == 2...3)
    #expect(scale.cells(of: run(3, 92, 92)) == 2...2)
    #expect(scale.cells(of: run(4, 0, 89)) == nil)
    #expect(scale.cells(of: run(5, 200, nil)) == nil)
  }

  @Test func marksHaveRoomForTheirLabels() {
    for cells in [1, 30, 73, 113, 193] {
      for window in TimelineState.windows {
        let scale = TimelineScale(
          window: .seconds(window), end: Scene.seconds(1_000), cells: cells)
        let places = scale.marks.map(\.cell)
        #expect(places.allSatisfy { (0..<cells).contains($0) })
        for (right, left) in zip(places, places.dropFirst()) { #expect(right - left >= 8) }
      }
    }
  }
}
