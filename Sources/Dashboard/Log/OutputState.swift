// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What the log screen knows about the output of a job, which is in a file.
struct OutputState: Sendable, Equatable {
  /// The name of the operation, which is the name of the job.
  let name: String
  /// The number of the attempt that the user has chosen; `nil` for the latest attempt.
  var attempt: Int?
  /// The last page that has arrived; `nil` if none has arrived.
  var page: OutputPage?
  /// The result of the last search.
  var found = Found()

  /// The result of a search.
  struct Found: Sendable, Equatable {
    /// The offset after the line with the selected match; `nil` if there is none.
    var matchEnd: UInt64?
    /// Whether the file does not contain the search text.
    var hasNoMatch = false
    /// The search, if it has ended at its limit. Its start is the offset at which it continues.
    var unfinished: OutputSearch?
  }

  /// Creates a state without a page.
  init(name: String) { self.name = name }

  /// Forgets the result of the last search.
  mutating func forgetSearch() { found = Found() }

  /// The page that the screen shows; `nil` if the screen shows the stored log lines. A file without content is shown
  /// only if the user has chosen its attempt.
  var shownPage: OutputPage? {
    guard let page, !page.lines.isEmpty || attempt != nil else { return nil }
    return page
  }

  /// The attempt and the number of attempts, such as `attempt 2 of 3`; `nil` if there is only one.
  var attemptWords: String? {
    guard let facts = page?.facts, facts.attemptCount > 1 else { return nil }
    return "attempt \(CountText.text(facts.attempt)) of \(CountText.text(facts.attemptCount))"
  }

  /// The size of the file, such as `1.2 MB`.
  var sizeWords: String {
    var (rest, tenths) = (page?.facts.size ?? 0, UInt64(0))
    var unit = "B"
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] where rest >= 1_000 {
      (rest, tenths) = (rest / 1_000, rest % 1_000 / 100)
      unit = next
    }
    return unit != "B" && rest < 10 ? "\(rest).\(tenths) \(unit)" : "\(rest) \(unit)"
  }

  /// Returns the part of the file before an offset, such as `35 %`. Only the end of the file is 100 %.
  func percentWords(of offset: UInt64) -> String {
    guard let size = page?.facts.size, offset < size else { return "100 %" }
    return "\(min(99, Int(Double(offset) / Double(size) * 100))) %"
  }
}
