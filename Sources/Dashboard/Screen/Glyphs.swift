// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The characters for lines, bars and marks, in Unicode or in ASCII.
struct Glyphs: Sendable, Equatable {
  /// Whether characters other than ASCII may be drawn.
  let isUnicode: Bool

  /// The mark to the left of the selected row.
  var selection: String { isUnicode ? "▌" : ">" }
  /// The text for an unknown value.
  var unknown: String { isUnicode ? "–" : "-" }
  /// The mark after the heading of the sorted column if the largest value is in the first row.
  var descending: String { isUnicode ? "▼" : "v" }
  /// The mark after the heading of the sorted column if the smallest value is in the first row.
  var ascending: String { isUnicode ? "▲" : "^" }
  /// The text that stands for omitted text, or for work in progress.
  var ellipsis: String { isUnicode ? "…" : ".." }

  /// A horizontal rule.
  var horizontal: Unicode.Scalar { isUnicode ? "─" : "-" }
  /// A vertical line.
  var vertical: Unicode.Scalar { isUnicode ? "│" : "|" }
  /// The character at which a vertical line begins below a horizontal rule.
  var teeDown: Unicode.Scalar { isUnicode ? "┬" : "+" }
  /// The character at which a vertical line ends at a horizontal rule.
  var teeUp: Unicode.Scalar { isUnicode ? "┴" : "+" }

  /// The tree line before a row that has siblings below it.
  var branch: String { isUnicode ? "├─ " : "|-- " }
  /// The tree line before a row that is the last of its siblings.
  var lastBranch: String { isUnicode ? "└─ " : "`-- " }
  /// Returns the tree line before a row on the critical path.
  func criticalBranch(isLast: Bool) -> String {
    isUnicode ? (isLast ? "┗━ " : "┡━ ") : "#== "
  }
  /// The tree line below a row that has siblings further below.
  var trunk: String { isUnicode ? "│  " : "|   " }
  /// The space below a row that is the last of its siblings, in place of a tree line.
  var noTrunk: String { isUnicode ? "   " : "    " }

  /// The character for a taken slot of a queue.
  var takenSlot: Unicode.Scalar { isUnicode ? "█" : "#" }
  /// The character for a free slot of a queue.
  var freeSlot: Unicode.Scalar { isUnicode ? "░" : "." }

  /// The character for the completed part of a progress.
  var completed: String { isUnicode ? "▓" : "#" }
  /// The character for the rest of a progress.
  var uncompleted: String { isUnicode ? "░" : "." }

  /// The character for the times at which a slot of the timeline was free. Finished runs have another one.
  var idleTime: Unicode.Scalar { isUnicode ? "·" : "." }

  /// The bars of eight heights. The first bar represents zero.
  var bars: [Unicode.Scalar] {
    isUnicode
      ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", ":", "-", "=", "+", "*", "#"]
  }
  /// The characters that fill a cell of an area from below, in order of height. The first character is empty.
  var areaFills: [Unicode.Scalar] {
    isUnicode ? [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [" ", ".", ":", "#"]
  }

  /// The arrow between two states.
  var arrow: String { isUnicode ? "→" : "->" }
  /// The separator between two hints.
  var dot: String { isUnicode ? "·" : "|" }
  /// Returns the sentence with each `→`, quotation mark and ellipsis replaced by characters that the terminal
  /// can draw.
  func adapted(_ sentence: String) -> String {
    guard !isUnicode else { return sentence }
    return sentence.replacing("→", with: arrow).replacing("“", with: "\"").replacing(
      "”", with: "\""
    )
    .replacing("…", with: ellipsis)
  }
  /// The first cell of an operation's run in the timeline. It separates the run from the previous run of the
  /// slot.
  var runStart: Unicode.Scalar { isUnicode ? "▐" : "|" }
  /// The first cell of an operation's run that began before the time that the timeline shows.
  var runBack: Unicode.Scalar { isUnicode ? "◀" : "<" }
  /// The last cell of an operation's run that has not ended.
  var runFront: Unicode.Scalar { isUnicode ? "▶" : ">" }

  /// The first cell of an operation's run that has failed.
  var runFailure: Unicode.Scalar { "!" }

  /// The character for the part of a recording that was played.
  var played: Unicode.Scalar { isUnicode ? "━" : "=" }
  /// The character for the position in a recording.
  var playhead: Unicode.Scalar { isUnicode ? "●" : "O" }
  /// The character for a moment of a recording at which a warning appears.
  var warningMark: Unicode.Scalar { "!" }
  /// The character for a moment of a recording at which an operation fails.
  var failureMark: Unicode.Scalar { "x" }

  /// Returns the character for one state in the proportion bar. Each state has its own texture, so that the
  /// bar can be read without colors. The part of executing operations is solid, and the part of finished ones is light.
  func share(of share: ProportionBar.Share) -> Unicode.Scalar {
    switch share {
    case .finished: isUnicode ? "░" : "-"
    case .cancelled: isUnicode ? "▓" : "x"
    case .executing: isUnicode ? "█" : "#"
    case .ready: isUnicode ? "▒" : "o"
    case .waiting: isUnicode ? "·" : "."
    }
  }

  /// Returns the character that fills an operation's run in the timeline. The proportion bar uses the same
  /// character for finished, cancelled or executing operations.
  func run(_ state: OperationState) -> Unicode.Scalar {
    switch state {
    case .finished, .failed: share(of: .finished)
    case .cancelled, .cancelling: share(of: .cancelled)
    case .executing, .waiting, .ready, .held: share(of: .executing)
    }
  }

  /// Returns the text or, if it has more than `count` characters, its beginning with an ellipsis.
  func clipped(_ text: String, to count: Int) -> String {
    guard !text.unicodeScalars.dropFirst(count).isEmpty else { return text }
    return text.clipped(to: count - ellipsis.unicodeScalars.count) + ellipsis
  }

  /// Returns how many cells a text takes; at most `limit` cells.
  func width(of text: String, limit: Int = 1_000) -> Int {
    CellText.width(of: text, limit: limit, isUnicode: isUnicode)
  }
}
