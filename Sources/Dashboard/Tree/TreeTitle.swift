// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What stands over a tree: which way it goes, how much there is, and what decides how long it takes.
struct TreeTitle {
  let tree: DependencyTree

  /// The words, the most important first: what has no room is cut.
  func spans(_ glyphs: Glyphs) -> [Span] {
    var spans = [Span(tree.direction == .waitsFor ? "WAITS FOR" : "BLOCKS", .dim)]
    let count = tree.scan.counts.total
    if count > 0 {
      let more = tree.scan.isCut ? "+" : ""
      spans.append(Span(" \(CountText.text(count))\(more)", .dim))
    }
    let path = tree.criticalPath
    if !path.isEmpty {
      spans.append(Span("  critical path \(path.count)", .accent))
      if let time = tree.scan.remainingTime {
        spans.append(Span(", \(TimeText.fine(time, glyphs)) left by medians", .accent))
      }
    }
    return spans
  }
}
