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
