// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The window with the whole name of the selected operation.

extension Dashboard {
  /// What the window holds.
  struct WholeName {
    let id: OperationReport.ID
    /// Empty where it is not known.
    let className: String
    /// The name, or the class in brackets; unsanitised, and of any length.
    let text: String
  }

  /// What the window holds now; `nil` while it is closed, or nothing is selected.
  var wholeName: WholeName? {
    guard screen.showsName, screen.helpTop == nil, picker == nil, detail == nil, let id = selected
    else {
      return nil
    }
    if let report = shown.operations[id] {
      let text = report.name.isEmpty ? "(\(report.className))" : report.name
      return WholeName(id: id, className: report.className, text: text)
    }
    // What the past still tells of it.
    let title = screen.view == .timeline ? timeline.run?.title : selectedEvent?.title
    return WholeName(id: id, className: "", text: title ?? "no longer kept")
  }

  /// Opens the window or closes it.
  mutating func toggleName() -> [Effect] {
    guard screen.showsName || selected != nil else { return [.bell] }
    screen.showsName.toggle()
    return []
  }
}
