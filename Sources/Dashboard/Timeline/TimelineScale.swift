// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The scale of the timeline: the moment at which each cell begins.
///
/// Each cell begins at a multiple of the cell duration. Therefore finished runs move to the left in whole
/// cells and keep their shape.
struct TimelineScale: Sendable, Equatable {
  /// The number of cells in the timeline.
  let cells: Int
  /// The duration of a cell in nanoseconds; at least 1.
  let cellDuration: Int64
  /// The moment at which the first cell begins, in nanoseconds.
  private let left: Int64

  /// Creates a scale.
  ///
  /// - Parameters:
  ///   - window: The duration of all cells together.
  ///   - end: A moment within the last cell.
  ///   - cells: The number of cells; at least 1.
  init(window: Duration, end: MonitorTime, cells: Int) {
    self.cells = max(1, cells)
    let nanoseconds = window.components.seconds * 1_000_000_000
    cellDuration = max(1, nanoseconds / Int64(self.cells))
    left = (Self.floorDivide(end.nanoseconds, cellDuration) + 1 - Int64(self.cells)) * cellDuration
  }

  /// The moment at which the first cell begins.
  var start: MonitorTime { MonitorTime(nanoseconds: left) }

  /// Returns the next moment at which the timeline moves by a cell.
  func nextStep(after now: MonitorTime) -> MonitorTime {
    MonitorTime(
      nanoseconds: (Self.floorDivide(now.nanoseconds, cellDuration) + 1) * cellDuration)
  }

  /// Returns the index of a moment's cell. The index is negative before the first cell, and `cells` or more
  /// after the last cell.
  func cell(of time: MonitorTime) -> Int {
    Int(Self.floorDivide(time.nanoseconds - left, cellDuration))
  }

  /// Returns the cells that a run covers in the timeline; `nil` if the run is outside the timeline.
  func cells(of run: OperationRun) -> ClosedRange<Int>? {
    let first = cell(of: run.started)
    // If a run ends when a cell begins, the run does not cover that cell.
    let last =
      run.finished.map {
        max(first, cell(of: MonitorTime(nanoseconds: max($0.nanoseconds - 1, left - 1))))
      } ?? cells - 1
    guard first < cells, last >= 0 else { return nil }
    return max(0, first)...max(max(0, first), min(cells - 1, last))
  }

  /// The marks of the time axis. Each mark has a cell, and the number of seconds from the moment of that cell
  /// until now. The marks are as close together as their labels permit.
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
