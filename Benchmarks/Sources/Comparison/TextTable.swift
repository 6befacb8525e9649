// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A table that reads well as plain text and is valid Markdown.
public struct TextTable: Sendable {
  /// The titles of the columns.
  let titles: [String]
  /// The number of columns with words. They are the first columns and are aligned to the left. The
  /// other columns contain numbers.
  let wordColumns: Int
  private(set) var rows: [[String]] = []

  /// Creates a table without rows.
  ///
  /// - Parameters:
  ///   - words: The titles of the columns with words.
  ///   - numbers: The titles of the columns with numbers.
  public init(words: [String], numbers: [String]) {
    titles = words + numbers
    wordColumns = words.count
  }

  /// Adds a row. Missing cells at its end stay empty, and `nil` becomes a dash.
  public mutating func add(words: [String], numbers: [String?]) {
    let cells = words + numbers.map { $0 ?? "–" }
    rows.append(cells + Array(repeating: "", count: max(titles.count - cells.count, 0)))
  }

  /// The table as text with one line for each row. Each line ends with a newline.
  public var text: String {
    let widths = titles.indices.map { column in
      ([titles] + rows).map { $0[column].count }.max() ?? 0
    }
    let rule = titles.indices.map { column in
      let dashes = String(repeating: "-", count: max(widths[column], 3))
      return column < wordColumns ? dashes : dashes.dropLast() + ":"
    }
    return ([titles, rule] + rows).map { line($0, widths) }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = cells.enumerated().map { column, cell in
      let padding = String(repeating: " ", count: max(max(widths[column], 3) - cell.count, 0))
      return column < wordColumns ? cell + padding : padding + cell
    }
    return "| " + padded.joined(separator: " | ") + " |\n"
  }
}
