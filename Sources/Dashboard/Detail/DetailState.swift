// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the detail screen, which shows one operation and covers the view from which the
/// user has opened it.
struct DetailState: Sendable, Equatable {
  let id: OperationReport.ID
  /// The index of the first row on screen.
  var top = 0
  /// The log screen of the operation, which covers the detail screen; `nil` while it is closed.
  var log: LogState?

  /// Scrolls the rows down or up, at most to the last page or the first row.
  mutating func move(by offset: Int, rowCount: Int, height: Int) {
    top = max(0, min(top + offset, rowCount - height))
  }
}

extension Dashboard {
  /// Performs an action of the detail screen.
  mutating func perform(_ key: KeyAction.Detail) -> [Effect] {
    switch key {
    case .open: openDetail()
    case .next: showNeighbourInDetail(step: 1)
    case .previous: showNeighbourInDetail(step: -1)
    }
  }

  /// Shows the selected operation on its own screen.
  mutating func openDetail() -> [Effect] {
    guard let id = selectedOperation else { return refuseWithoutOperation() }
    guard shown.operations.contains(id) else {
      show("the details of \(id) are no longer stored", isWarning: true)
      return [.bell]
    }
    detail = DetailState(id: id)
    return []
  }

  /// Shows the next or the previous operation of the view from which the detail screen was opened.
  mutating func showNeighbourInDetail(step: Int) -> [Effect] {
    guard let old = detail else { return [.bell] }
    let selections = (list.selection, tree, timeline, events, queueScreen)
    detail = nil
    layOut()
    // The loop skips rows that represent no operation or represent the same operation again.
    for _ in 0..<Self.mostRowsPassed {
      move(by: step)
      if let id = selectedOperation, id != old.id {
        detail = DetailState(id: id)
        return []
      }
      layOut()
    }
    (list.selection, tree, timeline, events, queueScreen) = selections
    detail = old
    return [.bell]
  }

  private static let mostRowsPassed = 100

  /// The number of screen rows that the detail screen has for its contents.
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
