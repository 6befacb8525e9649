// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Finds the name that the user has probably meant.
package enum NearestName {
  /// Returns the name that is most similar to a word; `nil` if no name is similar.
  ///
  /// A name is similar if at most half of the letters of the word differ. One letter may differ in any word. The
  /// first of several equally similar names is returned.
  ///
  /// - Parameters:
  ///   - word: The word that the user has written.
  ///   - names: The known names.
  ///   - limit: The maximum number of letters that may differ; by default there is no limit.
  /// - Returns: One of the names, or `nil`.
  package static func nearest(
    to word: String, in names: some Sequence<String>, limit: Int = .max
  ) -> String? {
    var best: (name: String, distance: Int)?
    for name in names {
      // The lengths of similar names are similar, and a letter has up to four bytes. This check saves time if
      // there are many names.
      guard abs(name.utf8.count - word.utf8.count) / 4 <= limit else { continue }
      let distance = distance(from: word, to: name)
      if distance < best?.distance ?? .max { best = (name, distance) }
    }
    guard let best, best.distance <= limit, best.distance * 2 <= max(2, word.count) else {
      return nil
    }
    return best.name
  }

  /// Returns the number of letters to insert, remove, replace or swap with their neighbours so that one word
  /// becomes the other. Upper-case letters count as lower-case letters.
  package static func distance(from left: String, to right: String) -> Int {
    // The length limit keeps the time short for words of any length.
    let (left, right) = (Array(left.lowercased().prefix(40)), Array(right.lowercased().prefix(80)))
    var rows = [Array(0...right.count)]
    for (row, letter) in left.enumerated() {
      var distances = [row + 1]
      for (column, other) in right.enumerated() {
        var best = min(
          rows[row][column] + (letter == other ? 0 : 1), rows[row][column + 1] + 1,
          distances[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          best = min(best, rows[row - 1][column - 1] + 1)
        }
        distances.append(best)
      }
      rows.append(distances)
    }
    return rows[left.count][right.count]
  }
}
