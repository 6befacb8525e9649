// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What stands over a tree: which way it goes, how much there is, and what decides how long it takes.
struct TreeTitle {
  let tree: DependencyTree
  /// How many operations no other depends on; `nil` where that is not known.
  let rootCount: Int?

  /// The words, the most important first: what has no room is cut.
  func spans(_ glyphs: Glyphs) -> [Span] {
    var spans = tree.root == nil ? roots : [Span(directionWords, .dim)]
    let count = CountText.text(tree.scan.counts.total) + (tree.scan.isCut ? "+" : "")
    if tree.scan.counts.total > 0 {
      spans.append(Span(tree.root == nil ? "  \(count) below" : " \(count)", .dim))
    }
    let path = tree.criticalPath
    if !path.isEmpty {
      spans.append(Span("  critical path \(path.count)", .accent))
      if let time = tree.scan.remainingTime {
        spans.append(Span(", ~\(TimeText.fine(time, glyphs)) left", .accent))
      }
    }
    return spans
  }

  private var directionWords: String { tree.direction == .waitsFor ? "WAITS FOR" : "BLOCKS" }

  private var roots: [Span] {
    let known = tree.roots.ids.count
    guard let rootCount else { return [Span("ROOTS \(CountText.text(known)) known so far", .dim)] }
    guard rootCount > known else { return [Span("ROOTS \(CountText.text(known))", .dim)] }
    return [
      Span("ROOTS ", .dim),
      Span("first \(CountText.text(known)) of \(CountText.text(rootCount))", .warning),
    ]
  }
}
