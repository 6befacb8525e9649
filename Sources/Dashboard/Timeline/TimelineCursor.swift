// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Selects an earlier or a later run of the selected slot.
  ///
  /// After an earlier run is selected, new runs of the slot do not change the selection until the newest run is
  /// selected again.
  mutating func selectRun(by step: Int) -> [Effect] { timeline.moveCursor(by: step) ? [] : [.bell] }

  /// Selects a run of the timeline. Does nothing if the timeline does not show the run.
  mutating func selectRun(_ id: OperationReport.ID) {
    timeline.select(run: id, height: pageHeight)
  }

  /// Returns the row of the timeline that is drawn in a row of the screen, as an index of ``TimelineState/rows``; `nil`
  /// if there is none.
  func timelineRow(at row: Int) -> Int? {
    guard screen.view == .timeline, let layout = screen.layout else { return nil }
    return TimelineView(dashboard: self, layout: layout).visibleRows.first { $0.row == row }?.index
  }

  /// Returns the run of the timeline that is drawn in a cell of the screen; `nil` if there is none.
  func timelineRun(row: Int, column: Int) -> OperationReport.ID? {
    guard let index = timelineRow(at: row) else { return nil }
    let scale = timelineScale(columns: screen.size.columns)
    let cell = column - TimelineView.gutter
    // If several runs share a cell, the last one is drawn.
    return timeline.rows[index].runs.last { scale.cells(of: $0)?.contains(cell) == true }?.id
  }

  /// The selected run of the timeline; `nil` if no run is selected, or if another part of the screen covers the view.
  var cursorRun: OperationRun? {
    guard screen.view == .timeline, detail == nil, warningList == nil, setup == nil, picker == nil
    else { return nil }
    return timeline.run
  }
}

extension TimelineState {
  /// Moves the cursor to an earlier or a later run of the selected slot. Returns `false` if there is no such run.
  mutating func moveCursor(by step: Int) -> Bool {
    guard let runs = selectedRow?.runs, let index = runs.firstIndex(where: { $0.id == run?.id }),
      runs.indices.contains(index + step)
    else { return false }
    choose(runs[index + step])
    return true
  }
}
