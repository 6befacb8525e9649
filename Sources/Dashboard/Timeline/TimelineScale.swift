// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Which moment each cell of the timeline stands for.
///
/// Cells begin at multiples of their duration, so that what is over moves to the left in whole cells
/// and never changes its shape.
struct TimelineScale: Sendable, Equatable {
  /// How many cells there are.
  let cells: Int
  /// How many nanoseconds a cell lasts; at least 1.
  let cellDuration: Int64
  /// When the first cell begins.
  private let left: Int64

  /// - Parameters:
  ///   - window: How much time all cells together last.
  ///   - end: A moment within the last cell.
  ///   - cells: How many cells there are; at least 1.
  init(window: Duration, end: MonitorTime, cells: Int) {
    self.cells = max(1, cells)
    let nanoseconds = window.components.seconds * 1_000_000_000
    cellDuration = max(1, nanoseconds / Int64(self.cells))
    left = (Self.floorDivide(end.nanoseconds, cellDuration) + 1 - Int64(self.cells)) * cellDuration
  }

  /// When the first cell begins.
  var start: MonitorTime { MonitorTime(nanoseconds: left) }

  /// When the picture next moves on by a cell.
  func nextStep(after now: MonitorTime) -> MonitorTime {
    MonitorTime(
      nanoseconds: (Self.floorDivide(now.nanoseconds, cellDuration) + 1) * cellDuration)
  }

  /// The cell of a moment; negative before the first one, `cells` or more behind the last.
  func cell(of time: MonitorTime) -> Int {
    Int(Self.floorDivide(time.nanoseconds - left, cellDuration))
  }

  /// The cells of a run, clamped to those that there are; `nil` where it is outside.
  func cells(of run: OperationRun) -> ClosedRange<Int>? {
    let first = cell(of: run.started)
    // It ends before the cell that begins when it ends.
    let last =
      run.finished.map {
        max(first, cell(of: MonitorTime(nanoseconds: max($0.nanoseconds - 1, left - 1))))
      } ?? cells - 1
    guard first < cells, last >= 0 else { return nil }
    return max(0, first)...max(max(0, first), min(cells - 1, last))
  }

  /// Marks for the axis: how many seconds ago, and the cell; as dense as labels have room.
  var marks: [(secondsAgo: Int64, cell: Int)] {
    let steps: [Int64] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600]
    let fewestCells = Int64(max(9, cells / 14))
    let second: Int64 = 1_000_000_000
    guard let step = steps.first(where: { $0 * second >= fewestCells * cellDuration }) else {
      return []
    }
    var marks: [(secondsAgo: Int64, cell: Int)] = []
    var secondsAgo = step
    while true {
      let cell = cells - Int(secondsAgo * second / cellDuration)
      if cell < 0 { return marks }
      marks.append((secondsAgo, cell))
      secondsAgo += step
    }
  }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    value / divisor - (value % divisor < 0 ? 1 : 0)
  }
}
