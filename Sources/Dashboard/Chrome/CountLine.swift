// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The line with the number of operations in each state.
///
/// Each number has a fixed number of cells, and the texts for held and cancelling operations always keep their
/// room. Therefore nothing in the line moves while the numbers change.
struct CountLine {
  /// The words of a line, and the cells of its numbers.
  private struct Form {
    /// The words before the numbers of finished, executing, ready, waiting, cancelled and all operations.
    let labels: [String]
    /// The cells of these numbers.
    let cells: [Int]
    /// The maximum number of cells of `12` in the text `(12 held)`; `nil` if the line has no such text.
    var heldCells: Int?
    /// The text between the number of cancelling operations and `)`; `nil` if the line does not have this
    /// number.
    var cancellingWord: String?
    /// The spaces between two texts.
    let gap: Int
  }

  /// The maximum number of cells of `1` in the text `(+1)`.
  private static let cancellingCells = 3

  private static let words = ["finished ", "exec ", "ready ", "wait ", "cancelled ", "total "]
  private static let shortWords = ["fin ", "exec ", "ready ", "wait ", "canc ", "total "]

  /// The forms of the line, the longest first.
  private static let forms = [
    Form(
      labels: words, cells: [9, 5, 7, 9, 7, 9], heldCells: 7, cancellingWord: " cancelling", gap: 2),
    Form(labels: words, cells: [9, 5, 7, 7, 7, 9], heldCells: 7, cancellingWord: "", gap: 2),
    Form(labels: shortWords, cells: [7, 5, 5, 7, 5, 7], heldCells: 5, cancellingWord: "", gap: 2),
    Form(labels: shortWords, cells: [7, 4, 4, 5, 4, 7], cancellingWord: "", gap: 2),
    Form(labels: shortWords.dropLast() + ["of "], cells: [5, 3, 4, 4, 4, 5], gap: 1),
    Form(labels: ["f", "e", "r", "w", "c", "="], cells: [5, 4, 5, 5, 4, 5], gap: 1),
  ]

  private let counts: StateCounts

  /// Creates a line with these counts.
  init(_ counts: StateCounts) { self.counts = counts }

  /// Returns the longest form of the line that has room in this number of cells.
  func spans(cells room: Int) -> [Span] {
    let form = Self.forms.first { width(of: $0) <= room } ?? Self.forms[Self.forms.count - 1]
    return spans(form)
  }

  private func width(of form: Form) -> Int {
    spans(form).reduce(0) { $0 + $1.text.unicodeScalars.count }
  }

  private func spans(_ form: Form) -> [Span] {
    // An operation in the state "cancelling" is also counted as executing or as ready, and the counts do not
    // show as which. The number of cancelling operations stands beside the number of cancelled operations,
    // because a cancelling operation becomes a cancelled one.
    let states: [(Int, Role)] = [
      (counts.finished, .finished), (counts.executing, .executing), (counts.ready, .ready),
      (counts.waiting, .waiting), (counts.cancelled, .cancelled), (counts.total, .strong),
    ]
    return states.indices.map { index in
      let count = states[index].0
      var role = states[index].1
      let isZero = count == 0 && !(role == .cancelled && counts.cancelling > 0)
      var text = CountText.text(count, cells: form.cells[index])
      var width = form.cells[index]
      func add(_ count: Int, _ before: String, cells: Int, _ after: String) {
        if count > 0 { text += " (\(before)\(CountText.text(count, cells: cells))\(after))" }
        width += 3 + before.utf8.count + cells + after.utf8.count
      }
      if role == .ready, let cells = form.heldCells { add(counts.held, "", cells: cells, " held") }
      if role == .cancelled, let word = form.cancellingWord {
        add(counts.cancelling, "+", cells: Self.cancellingCells, word)
      }
      let gap = index + 1 < states.count ? form.gap : 0
      if isZero { role = .dim }
      return Span(form.labels[index] + text.padded(to: width + gap), role)
    }
  }
}
