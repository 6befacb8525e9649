// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The bar that shows the position in a recording, and the moments of warnings and failures.
///
/// The first cell of the bar is the beginning of the recording, and the last cell is the end.
struct ReplayBar {
  /// The minimum number of cells of a bar that has times at its ends.
  private static let fewestCells = 8

  private let status: ReplayStatus
  private let columns: Range<Int>
  /// The columns of the bar itself, without the times at its ends.
  private let bar: Range<Int>
  /// Whether the times of the beginning and of the end are shown.
  private let hasTimes: Bool

  /// Creates a bar in these columns of the screen.
  init(_ status: ReplayStatus, columns: Range<Int>) {
    // One column is free at each end of the row, and one between each time and the bar.
    let row = columns.dropFirst().dropLast()
    let (left, right) = (Self.start.utf8.count, ReplayStatus.clock(status.length).utf8.count)
    let inner = row.dropFirst(left + 1).dropLast(right + 1)
    let hasTimes = inner.count >= Self.fewestCells
    self.status = status
    self.columns = columns
    self.hasTimes = hasTimes
    bar = hasTimes ? inner : row
  }

  /// The time at the left end of the bar.
  private static let start = ReplayStatus.clock(.zero)

  /// Returns the time since the beginning of the recording at a column of the screen; `nil` if the bar does not
  /// contain the column.
  func time(at column: Int) -> Duration? {
    guard bar.contains(column) else { return nil }
    let last = bar.upperBound - 1
    guard column < last else { return bar.count > 1 ? status.length : .zero }
    return status.length / (bar.count - 1) * (column - bar.lowerBound)
  }

  func draw(row: Int, on canvas: inout Canvas) {
    guard !bar.isEmpty else { return }
    if hasTimes {
      canvas.write(Self.start, row: row, columns: columns.dropFirst(), style: Style(.dim))
      canvas.writeRight(
        ReplayStatus.clock(status.length), row: row, columns: columns.dropLast(),
        style: Style(.dim))
    }
    let glyphs = canvas.glyphs
    let position = column(of: status.position)
    canvas.fill(glyphs.played, row: row, columns: bar.lowerBound..<position, style: Style(.accent))
    canvas.fill(glyphs.horizontal, row: row, columns: position..<bar.upperBound, style: Style(.dim))
    canvas.put(glyphs.playhead, row: row, column: position, style: Style(.accent, isBold: true))
    for column in bar {
      let mark: (scalar: Unicode.Scalar, role: Role)? =
        contains(column, in: status.marks.failures)
        ? (glyphs.failureMark, .failed)
        : contains(column, in: status.marks.warnings) ? (glyphs.warningMark, .warning) : nil
      guard let mark else { continue }
      // The position on a mark has the color of the mark. It is reversed, so that it differs without colors too.
      let isPosition = column == position
      canvas.put(
        isPosition ? glyphs.playhead : mark.scalar, row: row, column: column,
        style: Style(mark.role, isReversed: isPosition))
    }
  }

  /// Returns the column of the bar for a time since the beginning of the recording.
  private func column(of time: Duration) -> Int {
    guard status.length > .zero else { return bar.lowerBound }
    let share = max(0, min(1, time / status.length))
    return bar.lowerBound + Int((share * Double(bar.count - 1)).rounded())
  }

  /// Returns whether a column contains one of these sorted times. The cost depends on the logarithm of the number of
  /// times, because a long recording has many of them.
  private func contains(_ column: Int, in times: [Duration]) -> Bool {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if self.column(of: times[middle]) < column { low = middle + 1 } else { high = middle }
    }
    return low < times.count && self.column(of: times[low]) == column
  }
}
