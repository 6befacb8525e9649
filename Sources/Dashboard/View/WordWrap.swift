// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Breaks text into lines between words.
enum WordWrap {
  /// The most lines of one text.
  static let lineLimit = 20

  /// Lines of at most so many cells; a word that is longer is cut where the line ends.
  static func lines(of text: String, columns: Int, _ glyphs: Glyphs) -> [String] {
    let columns = max(1, columns)
    // More could not be shown, whatever it is.
    let text = text.clipped(to: lineLimit * columns)
    var lines: [String] = []
    var line = ""
    var width = 0
    func end() {
      if !line.isEmpty { lines.append(line) }
      (line, width) = ("", 0)
    }
    for word in text.split(separator: " ") {
      for piece in pieces(of: String(word), columns: columns, glyphs) {
        let cells = glyphs.width(of: piece)
        if width > 0, width + 1 + cells > columns { end() }
        if width > 0 { (line, width) = (line + " ", width + 1) }
        line += piece
        width += cells
      }
    }
    end()
    return lines
  }

  private static func pieces(of word: String, columns: Int, _ glyphs: Glyphs) -> [String] {
    guard glyphs.width(of: word) > columns else { return [word] }
    var pieces = [""]
    var width = 0
    for character in word {
      let cells = glyphs.width(of: String(character))
      if width + cells > columns, width > 0 {
        pieces.append("")
        width = 0
      }
      pieces[pieces.count - 1].append(character)
      width += cells
    }
    return pieces
  }
}
