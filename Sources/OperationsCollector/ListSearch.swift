// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The matches of a viewer's search in the order of its list.
///
/// The matches are found once, and then follow each change of an operation.
struct ListSearch {
  let text: String
  private var matches: RowOrder

  /// Finds the matches of a text among the operations of a list.
  ///
  /// - Parameters:
  ///   - text: The text to search for.
  ///   - order: The operations of the list.
  ///   - texts: The texts of all operations.
  ///   - report: Returns the report of an operation.
  init(
    for text: String, in order: RowOrder, _ texts: SearchTexts,
    _ report: (OperationReport.ID) -> OperationReport?
  ) {
    self.text = text
    let found = texts.matches(of: text, report)
    matches = RowOrder(order) { found.contains($0.id) }
  }

  /// Replaces the key of an operation. A key is `nil` if the list does not contain the operation.
  mutating func replace(_ old: SortKey?, by new: SortKey?, _ report: OperationReport) {
    if let old { matches.remove(old) }
    if let new, report.isMatch(of: text) { matches.insert(new) }
  }

  /// Returns the matches near the operation at which the search starts.
  ///
  /// - Parameters:
  ///   - search: The search, whose text must be ``text``.
  ///   - start: The key of the operation at which the search starts; `nil` if the list does not
  ///     contain the operation.
  ///   - isReversed: Whether the list is in the reverse order.
  /// - Returns: The matches near the operation.
  func answer(_ search: Interest.Search, start: SortKey?, isReversed: Bool) -> SearchMatches {
    let count = matches.count
    var position = 0
    if let start {
      let rank = matches.rank(of: start)
      position = isReversed ? count - rank.count - (rank.isPresent ? 1 : 0) : rank.count
    }
    return SearchMatches(search, count: count, position: position) { positions in
      guard isReversed else { return matches.keys(at: positions).map(\.id) }
      let mirrored = count - positions.upperBound..<count - positions.lowerBound
      return matches.keys(at: mirrored).reversed().map(\.id)
    }
  }
}
