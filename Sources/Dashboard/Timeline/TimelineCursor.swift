// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Selects an earlier or a later run of the selected slot.
  ///
  /// After an earlier run is selected, new runs of the slot do not change the selection until the newest run is
  /// selected again.
  mutating func selectRun(by step: Int) -> [Effect] {
    if timeline.run == nil { show("no run is selected", isWarning: true) }
    return timeline.moveCursor(by: step) ? [] : [.bell]
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
