// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Shows the selected operation on a screen of its own.
  mutating func openDetail() -> [Effect] {
    guard let id = selectedOperation else { return [.bell] }
    guard shown.operations[id] != nil else {
      show("\(id) is not known", isWarning: true)
      return [.bell]
    }
    // The first row is selected only as long as nothing else is chosen.
    if view == .operations { _ = list.select(id, in: rows, height: pageHeight) }
    detail = DetailState(id: id)
    return []
  }

  /// Goes on to the row below in the view from which the detail was opened, or to the one above.
  mutating func showNeighbourInDetail(step: Int) -> [Effect] {
    guard let old = detail else { return [.bell] }
    let selections = (list, tree, timeline, events)
    detail = nil
    // Rows that stand for no operation, or once more for this one, are passed by.
    for _ in 0..<Self.mostRowsPassed {
      move(by: step)
      if let id = selectedOperation, id != old.id {
        detail = DetailState(id: id)
        return []
      }
    }
    (list, tree, timeline, events) = selections
    detail = old
    return [.bell]
  }

  private static let mostRowsPassed = 100

  /// Where things are while the detail is shown.
  func detailLayout(for size: Size) -> Layout? {
    Layout(
      size: size, showsMeters: false, wantsPane: false, wantsRules: false,
      bannerCount: shown.warnings.count(where: \.isDeadlock))
  }

  /// How many rows of the detail are on screen.
  var detailHeight: Int { max(1, detailLayout(for: size)?.bodyHeight ?? 1) }

  mutating func scrollDetail(by offset: Int) {
    guard let id = detail?.id else { return }
    let rowCount = DetailRows(
      of: id, in: self, columns: size.columns, glyphs: Glyphs(isUnicode: true)
    ).rows.count
    let height = detailHeight
    detail?.move(by: offset, rowCount: rowCount, height: height)
  }
}
