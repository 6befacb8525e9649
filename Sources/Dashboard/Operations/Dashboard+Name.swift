// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The window with the whole name of the selected operation.

extension Dashboard {
  /// The contents of the window with the whole name.
  struct WholeName {
    let id: OperationReport.ID
    /// The name of the operation's class; empty if the class is not known.
    let className: String
    /// The name of the operation or, if it has none, its class in brackets. The text is unsanitised and of
    /// any length.
    let text: String
  }

  /// The contents of the window with the whole name; `nil` if the window is closed or no operation is
  /// selected.
  var wholeName: WholeName? {
    guard screen.showsName, screen.helpTop == nil, picker == nil, detail == nil, let id = selected
    else {
      return nil
    }
    if let report = shown.operations[id] {
      let text = report.name.isEmpty ? "(\(report.className))" : report.name
      return WholeName(id: id, className: report.className, text: text)
    }
    // If the operation is no longer reported, the timeline or the events may still contain its name.
    let title = screen.view == .timeline ? timeline.run?.title : selectedEvent?.title
    return WholeName(id: id, className: "", text: title ?? "no longer kept")
  }

  /// Opens or closes the window with the whole name.
  mutating func toggleName() -> [Effect] {
    guard screen.showsName || selected != nil else { return [.bell] }
    screen.showsName.toggle()
    return []
  }
}
