// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs an action of the list of warnings.
  mutating func perform(_ key: KeyAction.Warnings) -> [Effect] {
    switch key {
    case .open:
      warningList = WarningListState()
    case .goTo:
      return goToWarning()
    case .showOperations:
      closeWarnings(showing: .operations)
      list.listing.showsWarnedOnly = true
    }
    return []
  }

  /// The selected warning; `nil` if the list of warnings is closed or empty.
  var selectedWarning: MonitorWarning? {
    warningList?.index(in: shown.warnings).map { shown.warnings[$0] }
  }

  /// The number of screen rows that the list of warnings has for its contents.
  var warningListHeight: Int { max(1, screen.overlayLayout?.bodyHeight ?? 1) }

  /// Shows what the selected warning is about: its first operation in the list of operations or, if that list
  /// does not contain the operation, on the detail screen; otherwise its queue in the view of queues.
  private mutating func goToWarning() -> [Effect] {
    guard let warning = selectedWarning else { return [.bell] }
    if let id = warning.operations.first {
      guard shown.operations.contains(id) else {
        show("the details of \(id) are no longer stored", isWarning: true)
        return [.bell]
      }
      closeWarnings(showing: .operations)
      if !list.selection.select(id, in: list.rows, height: pageHeight) {
        detail = DetailState(id: id)
      }
      return []
    }
    guard let id = warning.queue else {
      show("this warning is about the whole process", isWarning: true)
      return [.bell]
    }
    closeWarnings(showing: .queues)
    queues.select(id, in: shown.queues, height: pageHeight)
    return []
  }

  private mutating func closeWarnings(showing view: ViewKind) {
    warningList = nil
    detail = nil
    screen.view = view
    layOut()
  }
}
