// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Words and a bar about the progress of an operation.
struct ProgressText {
  /// What the units of a progress are.
  private enum Source {
    /// The operation's code has reported the progress.
    case report
    /// The units are the members of a group.
    case members
    /// The units are the direct dependencies of an operation that waits for them.
    case dependencies
  }

  private let progress: OperationProgress
  private let source: Source
  private let now: MonitorTime
  /// Whether the operation is finished, failed or cancelled.
  private let isOver: Bool

  /// Creates the words about an operation; `nil` if it has no progress. A group without a progress of its own
  /// has the progress of its members: the part of them that has finished.
  ///
  /// - Parameters:
  ///   - report: The operation.
  ///   - monitored: The state of the process.
  ///   - now: The moment that the dashboard shows.
  ///   - includesDependencies: Whether an operation that waits for several dependencies has the progress of
  ///     these dependencies, after the first one has finished.
  init?(
    _ report: OperationReport, in monitored: MonitoredState, at now: MonitorTime,
    includesDependencies: Bool = false
  ) {
    self.now = report.finished ?? monitored.moment(for: report.id, at: now)
    isOver = report.state.isOver
    if let progress = report.progress {
      (self.progress, source) = (progress, .report)
      return
    }
    if let queue = report.memberQueue.flatMap({ monitored.queue($0) }),
      let progress = OperationProgress(ofMembers: queue.counts, since: report.started ?? self.now)
    {
      (self.progress, source) = (progress, .members)
      return
    }
    guard includesDependencies, report.state == .waiting, report.dependencies.count > 1,
      report.metDependencyCount > 0
    else { return nil }
    progress = OperationProgress(
      completed: report.metDependencyCount, total: report.dependencies.count,
      base: report.metDependencyCount, since: self.now)
    source = .dependencies
  }

  /// The completed part, rounded down, such as `45%`; `nil` if the total is unknown.
  var percent: String? { progress.fraction.map { "\(Int($0 * 100))%" } }

  /// The number of completed units and of all units, such as `450 of 1,000`. If the units are operations, the
  /// text says so.
  var counts: String {
    let completed = CountText.text(progress.completed)
    let numbers = progress.total.map { "\(completed) of \(CountText.text($0))" } ?? completed
    return switch source {
    case .report: numbers
    case .members: "\(numbers) members finished"
    case .dependencies: "\(numbers) dependencies finished"
    }
  }

  /// The number of completed units per second, such as `12/s`; `nil` if it is unknown.
  var rate: String? {
    progress.rate(at: now).map { "\(CountText.rate($0, cells: 6))/s" }
  }

  /// The estimated time until all units are completed, such as `1m40s left`; `nil` if it is unknown, all units
  /// are completed, or the operation has ended.
  var timeLeft: String? {
    guard !isOver, progress.completed < progress.total ?? 0 else { return nil }
    return progress.timeLeft(at: now).map { "\(TimeText.duration($0)) left" }
  }

  /// Returns the bar in this number of cells; an empty array if the total is unknown.
  func bar(cells: Int, glyphs: Glyphs) -> [Span] {
    guard let fraction = progress.fraction, cells > 0 else { return [] }
    let filled = min(cells, max(0, Int(fraction * Double(cells))))
    return [
      Span(String(repeating: glyphs.completed, count: filled), .accent),
      Span(String(repeating: glyphs.uncompleted, count: cells - filled), .dim),
    ]
  }

  /// Returns the bar and the numbers for the end of a row, in as many cells as fit beside the name: `▓▓▓░ 75%`,
  /// or `▓▓▓░ 65/87` for operations.
  ///
  /// - Parameters:
  ///   - room: The number of cells for the name and the progress.
  ///   - glyphs: The characters of the bar.
  /// - Returns: The text and its width in cells; an empty text if there is no room.
  func rowSpans(room: Int, glyphs: Glyphs) -> (spans: [Span], width: Int) {
    let numbers = rowNumbers
    let width = numbers.utf8.count
    guard room >= Self.narrowestName + 1 + width else { return ([], 0) }
    // A name of usual length keeps its room beside the bar.
    let hasBar = progress.total != nil
    let cells = [10, 4].first { hasBar && room >= 2 * Self.narrowestName + 2 + $0 + width }
    // A tree has the same numbers in the column of dependencies, if there is one.
    guard let cells else { return source == .dependencies ? ([], 0) : ([Span(numbers)], width) }
    return (bar(cells: cells, glyphs: glyphs) + [Span(" \(numbers)")], cells + 1 + width)
  }

  /// Returns the bar and the numbers for a column with this number of cells. If there is no room for a bar, the numbers
  /// are alone.
  func spans(cells: Int, glyphs: Glyphs) -> [Span] {
    let numbers = rowNumbers
    let barCells = min(10, cells - numbers.utf8.count - 1)
    guard progress.total != nil, barCells > 1 else { return [Span(numbers)] }
    return bar(cells: barCells, glyphs: glyphs) + [Span(" \(numbers)")]
  }

  /// The numbers for a row: `75%`, `65/87` for operations, or the completed units if the total is unknown.
  private var rowNumbers: String {
    if source != .report, let total = progress.total {
      let width = CountText.text(total, cells: 4).utf8.count
      let completed = CountText.text(progress.completed, cells: 4)
      return completed.paddedLeft(to: width) + "/\(CountText.text(total, cells: 4))"
    }
    return percent?.paddedLeft(to: 4) ?? CountText.text(progress.completed, cells: 5)
  }

  /// The minimum number of cells that the name of an operation keeps beside its progress.
  private static let narrowestName = 8
}
