// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import Dashboard
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Compares screen contents with the expected contents, which are stored in text files beside the
/// tests.
///
/// In a file, each row of text is followed by a row of letters, which name the style of each cell,
/// so that differences are readable. If the environment has `OPQ_UPDATE_GOLDEN=1`, the test writes
/// the files again.
enum GoldenFrame {
  /// Checks the picture of a dashboard. The size of the screen is a part of the file's name. Each fact that a
  /// style shows must also be in the text.
  static func check(
    _ dashboard: Dashboard, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let picture = dashboard.picture()
    let size = "\(picture.size.columns)x\(picture.size.rows)"
    check(picture, named: "\(name)-\(size)", sourceLocation: sourceLocation)
    let problems = StyleEvidence(picture: picture, isUnicode: true).problems
    #expect(problems == [], sourceLocation: sourceLocation)
  }

  static func check(
    _ grid: Grid, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    checkCells(of: grid, sourceLocation: sourceLocation)
    let drawn = text(of: grid)
    let path = folder + name + ".txt"
    if getenv("OPQ_UPDATE_GOLDEN") != nil {
      #expect(write(drawn, to: path), "cannot write \(path)", sourceLocation: sourceLocation)
      return
    }
    guard let golden = read(path) else {
      Issue.record("no \(path); OPQ_UPDATE_GOLDEN=1 writes it", sourceLocation: sourceLocation)
      return
    }
    let drawnLines = drawn.split(separator: "\n")
    let goldenLines = golden.split(separator: "\n")
    let different = zip(drawnLines, goldenLines).filter { $0 != $1 }
    #expect(drawnLines.count == goldenLines.count, sourceLocation: sourceLocation)
    #expect(
      different.isEmpty,
      "\(name):\n\(different.map { "is  \($0)\nwas \($1)" }.joined(separator: "\n"))",
      sourceLocation: sourceLocation)
  }

  /// Checks rules that every screen must follow: wide characters are complete, and no character
  /// moves the cursor.
  static func checkCells(of grid: Grid, sourceLocation: SourceLocation = #_sourceLocation) {
    for row in 0..<grid.size.rows {
      let cells = Array(grid.row(row))
      for column in cells.indices {
        guard let problem = problem(at: column, of: cells) else { continue }
        Issue.record("row \(row), column \(column): \(problem)", sourceLocation: sourceLocation)
      }
    }
  }

  private static func problem(at column: Int, of cells: [Cell]) -> String? {
    let scalar = cells[column].scalar
    if cells[column].isContinuation {
      let isAfterWide = column > 0 && CharacterWidth.cells(of: cells[column - 1].scalar) == 2
      return isAfterWide ? nil : "the right half of nothing"
    }
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) ? nil : "a control character" }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      return "unsafe character \(scalar.value)"
    default: break
    }
    switch CharacterWidth.cells(of: scalar) {
    case 1: return nil
    case 2:
      let isContinued = column + 1 < cells.count && cells[column + 1].isContinuation
      return isContinued ? nil : "half of a wide character"
    default: return "a character without width"
    }
  }

  private static func text(of grid: Grid) -> String {
    var text = "\(grid.size.columns)x\(grid.size.rows)\n"
    for row in 0..<grid.size.rows {
      var characters = String.UnicodeScalarView()
      var letters = ""
      for cell in grid.row(row) {
        letters += letter(of: cell.style)
        guard !cell.isContinuation else { continue }
        characters.append(cell.scalar)
        if let mark = cell.mark { characters.append(mark) }
      }
      text += "|\(String(characters))|\n~\(letters)~\n"
    }
    return text
  }

  /// Returns a letter for the role of a cell. The letter is a capital letter if the cell's colors
  /// are reversed. The letter of a cell in the selected row is `#`.
  private static func letter(of style: Style) -> String {
    if style.isSelected { return "#" }
    let letter =
      switch style.role {
      case .text: style.isBold ? "b" : " "
      case .strong: "s"
      case .dim: "d"
      case .executing: "e"
      case .ready: "r"
      case .held: "h"
      case .cancelling: "k"
      case .waiting: "w"
      case .finished: "f"
      case .failed: "x"
      case .cancelled: "c"
      case .warning: "!"
      case .accent: "a"
      case .kind0: "g"
      case .kind1: "i"
      case .kind2: "j"
      case .kind3: "l"
      case .kind4: "m"
      case .kind5: "n"
      case .otherKind: "o"
      }
    guard style.isReversed else { return letter }
    return letter == "!" ? "?" : letter.uppercased()
  }

  private static let folder: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(2).joined(separator: "/") + "/Golden/"
  }()

  private static func read(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    defer { fclose(file) }
    let bytes = Array(text.utf8)
    return fwrite(bytes, 1, bytes.count, file) == bytes.count
  }
}
