// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The menu in the status line from which the user selects the sort column: a letter and a word for each column.
struct SortMenuView {
  /// The number of columns of the screen.
  let columns: Int

  /// The minimum width of a screen on which two spaces separate the entries.
  private static let wideThreshold = 100

  /// The text of the menu.
  var spans: [Span] {
    // On a narrow screen, one space separates the entries, so that the whole menu fits into 80 columns.
    let isNarrow = columns < Self.wideThreshold
    let gap = isNarrow ? " " : "  "
    var spans = [Span("sort: ", .strong)]
    for column in SortOrder.Column.allCases {
      spans.append(Span(String(Character(column.letter)), .accent, isBold: true))
      spans.append(Span(" \(isNarrow ? column.shortWord : column.word)\(gap)"))
    }
    return spans + [Span("Esc", .dim)]
  }
}
