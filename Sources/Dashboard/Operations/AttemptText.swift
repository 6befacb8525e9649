// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Words about the attempts of a retry.
struct AttemptText {
  private let attempts: RetryAttempts
  private let isOver: Bool
  private let now: MonitorTime

  /// Creates the words about an operation; `nil` if it is not a retry, or if no attempt was started.
  init?(_ report: OperationReport, at now: MonitorTime) {
    guard let attempts = report.attempts, attempts.number > 0 else { return nil }
    self.attempts = attempts
    self.now = now
    isOver = report.state.isOver
  }

  /// The number of the last attempt, such as `2 of 3`.
  var numbers: String {
    "\(CountText.text(attempts.number)) of \(CountText.text(attempts.maximum))"
  }

  /// The number of the last attempt in words: `attempt 2 of 3` or, after the retry, `2 of 3 attempts`.
  var progress: String { isOver ? "\(numbers) attempts" : "attempt \(numbers)" }

  /// When the next attempt starts, such as `next attempt in 4s`; `nil` if there is no pause.
  var pause: String? {
    guard let end = attempts.pauseEnd, !isOver else { return nil }
    let rest = end - now
    guard rest > .zero else { return "next attempt is due" }
    return "next attempt in \(rest.inWholeSeconds)"
  }

  /// The last known error of an attempt, such as `attempt 1 failed: timed out`; `nil` if none is known. The
  /// text is unsanitised.
  func failure(width: Int = .max) -> String? {
    attempts.lastFailure.map {
      "attempt \(CountText.text($0.number)) failed: \($0.text.clipped(to: width))"
    }
  }

  /// The words for the row of a retry that executes, the longest first; empty after the retry, and if there can be only
  /// one attempt.
  var rowWords: [String] {
    isOver || attempts.maximum < 2
      ? [] : pause.map { ["\(progress), \($0)", progress] } ?? [progress]
  }

  /// The known attempts, with a line for each: its number, state, duration, id, name and kind.
  var list: [[Span]] {
    let width = max(2, "\(attempts.number)".utf8.count)
    return attempts.attempts.map { attempt in
      let kind = attempt.name.isEmpty ? "" : "  \(attempt.kind)"
      return [
        Span("\(attempt.number)".paddedLeft(to: width), .dim),
        Span("  "), Span(attempt.state.rawValue.padded(to: 10), attempt.state.role),
        Span(TimeText.duration(attempt.duration(at: now)).paddedLeft(to: 7)),
        Span("  \(attempt.id) ", .dim),
        Span(attempt.name.isEmpty ? "(\(attempt.kind))" : attempt.name), Span(kind, .dim),
      ]
    }
  }
}
