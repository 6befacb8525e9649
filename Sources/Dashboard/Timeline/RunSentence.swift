// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The line about a run of an operation: its id, its state and run time, its start, its kind, its name and its error.
struct RunSentence {
  /// The minimum number of columns of a line with the start and the kind.
  private static let longThreshold = 60
  /// The minimum number of columns of a line with the start, the kind and an error.
  private static let errorThreshold = 110
  /// The maximum number of columns for the kind.
  private static let kindWidth = 20
  /// The number of columns that the name keeps if the error needs the rest of the line.
  private static let fewestNameColumns = 16

  private let run: OperationRun
  private let dashboard: Dashboard

  /// Creates the line about a run that the timeline of a dashboard shows.
  init(_ run: OperationRun, in dashboard: Dashboard) {
    self.run = run
    self.dashboard = dashboard
  }

  /// The time that the operation has run so far, or until it ended.
  var time: Duration { (run.finished ?? dashboard.shownTime) - run.started }

  /// The kind of the operation; `nil` if it is unknown.
  var kind: String? { run.kind ?? dashboard.shown.operations[run.id]?.kind }

  /// The name of the operation; `nil` if it has none, so that ``OperationRun/title`` is the kind.
  var name: String? { run.title == kind ? nil : run.title }

  /// The text of the operation's error; `nil` if the operation has not failed or the error is unknown.
  var error: String? {
    run.state == .failed ? dashboard.shown.operations[run.id]?.errorText : nil
  }

  /// The time of day at which the run began; `nil` if it is unknown.
  var start: String? { dashboard.shown.hello.map { TimeText.timeOfDay(run.started, of: $0) } }

  /// The state of the run, with its time.
  private var stateWords: String {
    let text = TimeText.duration(time)
    let queue = dashboard.shown.queue(run.queue).map { " on \($0.label.clipped(to: 16))" } ?? ""
    switch run.state {
    case .executing, .cancelling: return "\(run.state.rawValue) \(text)\(queue)"
    case .finished, .failed, .cancelled, .waiting, .ready, .held:
      return "\(run.state.rawValue) after \(text)\(queue)"
    }
  }

  func draw(row: Int, columns: Range<Int>, on canvas: inout Canvas) {
    let isLong = columns.count >= (error == nil ? Self.longThreshold : Self.errorThreshold)
    let stateRole: Role = run.state == .failed ? .failed : .text
    var spans = [Span("\(run.id) ", .strong, isBold: true), Span(stateWords, stateRole)]
    if isLong, let start { spans.append(Span(", started \(start)", .dim)) }
    var column = canvas.write(spans, row: row, columns: columns)
    func rest() -> Range<Int> { min(column + 2, columns.upperBound)..<columns.upperBound }
    if let kind, isLong || name == nil {
      let room = rest().prefix(Self.kindWidth)
      let role = dashboard.timeline.colors.role(of: run.kind)
      column = canvas.write(kind, row: row, columns: room, style: Style(role))
    }
    let error = error.map { "error: \($0)" }
    if let name {
      let errorWidth = error.map { canvas.glyphs.width(of: $0, limit: columns.count) + 2 } ?? 0
      let width = max(Self.fewestNameColumns, rest().count - errorWidth)
      column = canvas.write(name, row: row, columns: rest().prefix(width))
    }
    if let error { canvas.write(error, row: row, columns: rest(), style: Style(.failed)) }
  }
}
