// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// One operation on a screen of its own, over the view from which it was opened.
struct DetailState: Sendable, Equatable {
  let id: OperationReport.ID
  /// The first row on screen.
  var top = 0

  /// Shows the rows further down, or further up; never beyond the last page.
  mutating func move(by offset: Int, rowCount: Int, height: Int) {
    top = max(0, min(top + offset, rowCount - height))
  }
}

extension Dashboard {
  /// Does what a key of the screen of one operation says.
  mutating func perform(_ key: KeyAction.Detail) -> [Effect] {
    switch key {
    case .open: openDetail()
    case .next: showNeighbourInDetail(step: 1)
    case .previous: showNeighbourInDetail(step: -1)
    }
  }

  /// Shows the selected operation on a screen of its own.
  mutating func openDetail() -> [Effect] {
    guard let id = selectedOperation else { return [.bell] }
    guard shown.operations[id] != nil else {
      show("\(id) is not known", isWarning: true)
      return [.bell]
    }
    // The first row is selected only as long as nothing else is chosen.
    if screen.view == .operations {
      _ = list.selection.select(id, in: list.rows, height: pageHeight)
    }
    detail = DetailState(id: id)
    return []
  }

  /// Goes on to the row below in the view from which the detail was opened, or to the one above.
  mutating func showNeighbourInDetail(step: Int) -> [Effect] {
    guard let old = detail else { return [.bell] }
    let selections = (list.selection, tree, timeline, events)
    detail = nil
    layOut()
    // Rows that stand for no operation, or once more for this one, are passed by.
    for _ in 0..<Self.mostRowsPassed {
      move(by: step)
      if let id = selectedOperation, id != old.id {
        detail = DetailState(id: id)
        return []
      }
      layOut()
    }
    (list.selection, tree, timeline, events) = selections
    detail = old
    return [.bell]
  }

  private static let mostRowsPassed = 100

  /// How many rows of the detail are on screen.
  var detailHeight: Int { max(1, screen.overlayLayout?.bodyHeight ?? 1) }

  mutating func scrollDetail(by offset: Int) {
    guard let id = detail?.id else { return }
    let rowCount = DetailRows(
      of: id, in: self, columns: screen.size.columns, glyphs: Glyphs(isUnicode: true)
    ).rows.count
    let height = detailHeight
    detail?.move(by: offset, rowCount: rowCount, height: height)
  }
}
