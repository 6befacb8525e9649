// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Words about the delay for which an operation waits.
struct DelayText {
  private let rest: Duration

  /// Creates the words about an operation; `nil` if it waits for no delay, or if the end of the delay is unknown.
  init?(_ report: OperationReport, at now: MonitorTime) {
    guard report.state == .waiting, let end = report.delayEnd else { return nil }
    rest = max(.zero, end - now)
  }

  /// The time until the end of the delay, such as `4s left`.
  var left: String { "\(rest.inWholeSeconds) left" }

  /// The words for a line about the operation, such as `delay: 4s left`.
  var words: String { "delay: \(left)" }

  /// The words for the row of the operation, the longest first.
  var rowWords: [String] { [words, left] }

  /// The reason why the operation waits, such as `waits for its delay: 4s left`.
  var sentence: String { "waits for its delay: \(left)" }
}

extension Duration {
  /// The time until a moment, rounded up to whole seconds, such as `4s` or `1m30s`.
  var inWholeSeconds: String {
    let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
    return seconds < 60 ? "\(seconds)s" : TimeText.duration(.seconds(seconds))
  }
}
