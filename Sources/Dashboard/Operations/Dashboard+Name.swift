// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The window with the whole name of the selected operation.

extension Dashboard {
  /// The contents of the window.
  struct WholeName {
    let id: OperationReport.ID
    /// Empty if the class is not known.
    let className: String
    /// The name, or the class in brackets; unsanitised, and of any length.
    let text: String
  }

  /// The present contents of the window; `nil` if it is closed, or if nothing is selected.
  var wholeName: WholeName? {
    guard screen.showsName, screen.helpTop == nil, picker == nil, detail == nil, let id = selected
    else {
      return nil
    }
    if let report = shown.operations[id] {
      let text = report.name.isEmpty ? "(\(report.className))" : report.name
      return WholeName(id: id, className: report.className, text: text)
    }
    // The name that the timeline or the events still contain.
    let title = screen.view == .timeline ? timeline.run?.title : selectedEvent?.title
    return WholeName(id: id, className: "", text: title ?? "no longer kept")
  }

  /// Opens or closes the window.
  mutating func toggleName() -> [Effect] {
    guard screen.showsName || selected != nil else { return [.bell] }
    screen.showsName.toggle()
    return []
  }
}
