// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import Dashboard

/// Finds cells whose color or style shows a fact that the characters do not show.
struct StyleEvidence {
  /// A text for each cell, or run of cells, whose style alone shows information. The text gives the same
  /// information.
  let problems: [String]

  /// Adjacent cells of a row that have the same role.
  private struct Run {
    let row: Int
    let columns: Range<Int>
    let role: Role
    let text: String
  }

  init(picture: Grid, isUnicode: Bool) {
    let glyphs = Glyphs(isUnicode: isUnicode)
    var problems: [String] = []
    for row in 0..<picture.size.rows {
      for run in Self.runs(of: picture, row: row)
      where !Self.isReported(run, in: picture, glyphs: glyphs) {
        problems.append("row \(row): \(run.role) is shown by color alone: \(run.text)")
      }
      let text = Self.text(of: picture, row: row, columns: 0..<picture.size.columns)
      guard picture.size.columns > 0 else { continue }
      let style = picture[row: row, column: 0].style
      if style.isSelected, !text.hasPrefix(glyphs.selection) {
        problems.append("row \(row) is selected by reverse alone: \(text)")
      }
      if style.isReversed, !text.hasPrefix(" DEADLOCK ") {
        problems.append("row \(row) is a deadlock by reverse alone: \(text)")
      }
    }
    self.problems = problems
  }

  private static func text(of grid: Grid, row: Int, columns: Range<Int>) -> String {
    var text = String.UnicodeScalarView()
    for column in columns where !grid[row: row, column: column].isContinuation {
      text.append(grid[row: row, column: column].scalar)
    }
    return String(text)
  }

  private static func runs(of grid: Grid, row: Int) -> [Run] {
    var runs: [Run] = []
    var start = 0
    for column in 0..<grid.size.columns {
      let role = grid[row: row, column: column].style.role
      let isLast = column + 1 == grid.size.columns
      guard isLast || grid[row: row, column: column + 1].style.role != role else { continue }
      let columns = start..<column + 1
      let text = text(of: grid, row: row, columns: columns)
      runs.append(Run(row: row, columns: columns, role: role, text: text))
      start = column + 1
    }
    return runs
  }

  private static func isReported(_ run: Run, in grid: Grid, glyphs: Glyphs) -> Bool {
    guard run.text.contains(where: { $0 != " " }) else { return true }
    switch run.role {
    case .text, .strong, .dim: return true
    // The color of a kind shows no fact: the sentence about the selected run names its kind.
    case .kind0, .kind1, .kind2, .kind3, .kind4, .kind5, .otherKind: return true
    case .warning: return run.text.contains { $0.isLetter || $0 == "!" }
    case .accent:
      // The accent color marks the critical path, which has its own line characters. So this color
      // is not accepted on the line characters of other paths.
      let light = [glyphs.branch, glyphs.lastBranch].map { $0.filter { $0 != " " } }
      return !light.contains { run.text.contains($0) }
    case .executing, .ready, .held, .cancelling, .waiting, .finished, .failed, .cancelled: break
    }
    let (words, texture) = words(of: run.role, glyphs: glyphs)
    let text = run.text.lowercased()
    if words.contains(where: { text.contains($0) }) { return true }
    if texture.contains(where: { run.text.unicodeScalars.contains($0) }) { return true }
    if run.role == .failed, ["error", "critical"].contains(where: { text.contains($0) }) {
      return true
    }
    if ["live", "replay", "following"].contains(where: { text.contains($0) }) { return true }
    // The graph of rates has its numbers beside it. At zero it has only the lowest bar.
    if run.text.unicodeScalars.allSatisfy({ $0 == glyphs.bars[0] }) { return true }
    // A cell with only the mark of a cut text is accepted, because it stands for characters that
    // are not shown.
    if text.filter({ $0 != " " }) == (glyphs.isUnicode ? "…" : "~") { return true }
    // The shortest form of a count is accepted: the first letter of the state's name and a number.
    if let letter = words.first?.first, text.first == letter,
      text.dropFirst().first?.isNumber == true
    {
      return true
    }
    // A number in a column whose heading contains the state's name is accepted.
    return (0..<run.row).contains { row in
      let columns = max(0, run.columns.upperBound - 11)..<run.columns.upperBound
      let heading = Self.text(of: grid, row: row, columns: columns).lowercased()
      return words.contains { heading.contains($0) }
    }
  }

  private static func words(
    of role: Role, glyphs: Glyphs
  ) -> (words: [String], texture: [Unicode.Scalar]) {
    switch role {
    case .executing: (["exec"], [glyphs.share(of: .executing), glyphs.takenSlot])
    case .ready: (["ready"], [glyphs.share(of: .ready)])
    case .held: (["held", "suspended"], [])
    case .cancelling: (["cancel", "still running", "not started"], [glyphs.share(of: .cancelled)])
    case .waiting: (["wait"], [glyphs.share(of: .waiting)])
    case .finished: (["fin"], [glyphs.share(of: .finished), glyphs.runStart])
    case .failed: (["fail", "error"], [glyphs.runFailure, glyphs.failureMark])
    case .cancelled: (["canc"], [glyphs.share(of: .cancelled)])
    case .text, .strong, .dim, .warning, .accent: ([], [])
    case .kind0, .kind1, .kind2, .kind3, .kind4, .kind5, .otherKind: ([], [])
    }
  }
}
