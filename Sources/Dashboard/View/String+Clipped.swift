// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension String {
  /// At most so many characters (Unicode scalars) from the front: names may be of any length, and what
  /// is drawn must not cost as much as they do.
  func clipped(to count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.prefix(count)))
  }

  /// As much behind the first `start` characters as ``CellText`` looks at for so many columns, and one
  /// more where there is: so that it sees that something is left out.
  func clipped(from start: Int, toFill columns: Int) -> String {
    let rest = unicodeScalars.dropFirst(start)
    return String(UnicodeScalarView(rest.prefix(CellText.mostScalars(columns: columns) + 1)))
  }
}
