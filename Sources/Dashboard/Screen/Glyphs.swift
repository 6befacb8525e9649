// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The characters that lines, bars and marks are drawn with, in Unicode or in ASCII.
struct Glyphs: Sendable, Equatable {
  /// Whether anything beyond ASCII may be drawn.
  let isUnicode: Bool

  /// Stands to the left of the selected row.
  var selection: String { isUnicode ? "▌" : ">" }
  /// Stands where a value is not known.
  var unknown: String { isUnicode ? "–" : "-" }
  /// Stands behind what the rows are sorted by.
  var descending: String { isUnicode ? "▼" : "v" }
  /// The same where the order is reversed.
  var ascending: String { isUnicode ? "▲" : "^" }
  /// Stands between the ends of a range.
  var ellipsis: String { isUnicode ? "…" : ".." }

  /// A horizontal rule.
  var horizontal: Unicode.Scalar { isUnicode ? "─" : "-" }
  /// A vertical rule.
  var vertical: Unicode.Scalar { isUnicode ? "│" : "|" }
  /// A horizontal rule from which a vertical one hangs.
  var teeDown: Unicode.Scalar { isUnicode ? "┬" : "+" }
  /// A horizontal rule on which a vertical one ends.
  var teeUp: Unicode.Scalar { isUnicode ? "┴" : "+" }

  /// In a tree, before a row that has siblings below it.
  var branch: String { isUnicode ? "├─ " : "|-- " }
  /// In a tree, before the last of its siblings.
  var lastBranch: String { isUnicode ? "└─ " : "`-- " }
  /// In a tree, before a row on the critical path.
  func criticalBranch(isLast: Bool) -> String {
    isUnicode ? (isLast ? "┗━ " : "┡━ ") : "#== "
  }
  /// In a tree, below a row that has siblings further below.
  var trunk: String { isUnicode ? "│  " : "|   " }
  /// In a tree, below a last sibling.
  var noTrunk: String { isUnicode ? "   " : "    " }

  /// A slot of a queue that is taken.
  var takenSlot: Unicode.Scalar { isUnicode ? "█" : "#" }
  /// A slot of a queue that is free.
  var freeSlot: Unicode.Scalar { isUnicode ? "░" : "." }

  /// Bars of eight heights: the first stands for nothing.
  var bars: [Unicode.Scalar] {
    isUnicode
      ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", ":", "-", "=", "+", "*", "#"]
  }
  /// How far a cell of an area is filled from below, the first not at all.
  var areaFills: [Unicode.Scalar] {
    isUnicode ? [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [" ", ".", ":", "#"]
  }

  /// From one state to the next.
  var arrow: String { isUnicode ? "→" : "->" }
  /// The first cell of a run, which sets it off from the one before.
  var runStart: Unicode.Scalar { isUnicode ? "▐" : "|" }
  /// The first cell of a run that began before the picture does.
  var runBack: Unicode.Scalar { isUnicode ? "◀" : "<" }
  /// The last cell of a run that goes on.
  var runFront: Unicode.Scalar { isUnicode ? "▶" : ">" }

  /// A share of the proportion bar: a texture for each state, so that it needs no colour.
  func share(of share: ProportionBar.Share) -> Unicode.Scalar {
    switch share {
    case .finished: isUnicode ? "█" : "#"
    case .cancelled: isUnicode ? "▒" : "x"
    case .executing: isUnicode ? "▓" : "="
    case .ready: isUnicode ? "░" : "o"
    case .waiting: isUnicode ? "·" : "."
    }
  }

  /// What a run is drawn with: the texture of its state in the proportion bar.
  func run(_ state: OperationState) -> Unicode.Scalar {
    switch state {
    case .finished: share(of: .finished)
    case .cancelled, .cancelling: share(of: .cancelled)
    case .executing, .waiting, .ready, .held: share(of: .executing)
    }
  }

  /// How many cells a text takes, counting no further than `limit`.
  func width(of text: String, limit: Int = 1_000) -> Int {
    CellText.width(of: text, limit: limit, isUnicode: isUnicode)
  }
}
