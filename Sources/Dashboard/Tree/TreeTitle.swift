// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The title of a tree: its direction, its size, and its critical path.
struct TreeTitle {
  let tree: DependencyTree
  /// The number of roots of the tree of all unfinished operations; `nil` if it is unknown.
  let rootCount: Int?
  /// The text of the filter; `nil` without a filter.
  var filter: String?
  /// The number of known operations that match the filter, and the number of all operations that match it. The
  /// process reports only the first matches.
  var matchCounts = (known: 0, all: 0)

  /// Returns the parts of the title, the most important first. Parts without room are left out.
  func spans(_ glyphs: Glyphs) -> [Span] {
    var spans = tree.root == nil ? roots : [Span(directionWords, .dim)]
    if let filter {
      let (known, all) = (CountText.text(matchCounts.known), CountText.text(matchCounts.all))
      let isPart = matchCounts.known < matchCounts.all
      spans.append(Span(isPart ? "  \(known) of \(all) matches of " : "  ", .dim))
      spans.append(Span("filter: \(filter)", .accent))
    }
    let counts = tree.scan.counts
    let more = tree.scan.isCut ? "+" : ""
    if tree.root == nil {
      let unfinished = counts.total - counts.finished - counts.cancelled
      if unfinished > 0 {
        spans.append(Span("  \(CountText.text(unfinished))\(more) below", .dim))
      }
    } else if counts.total > 0 {
      spans.append(Span(" \(CountText.text(counts.total))\(more)", .dim))
    }
    if tree.scan.isPathUnknown { spans.append(Span("  \(Self.pathUnknown)", .dim)) }
    let path = tree.criticalPath
    if !path.isEmpty {
      spans.append(Span("  critical path \(CountText.text(path.count))", .accent))
      if let time = tree.scan.remainingTime {
        spans.append(Span(", ~\(TimeText.fine(time, glyphs)) left", .accent))
      }
    }
    return spans
  }

  /// The words that stand for a critical path that is not known.
  static let pathUnknown = "no critical path: too many dependencies"

  private var directionWords: String { tree.direction == .waitsFor ? "DEPENDS ON" : "BLOCKS" }

  private var roots: [Span] {
    let known = tree.roots.ids.count
    guard filter == nil else { return [Span("ROOTS \(CountText.text(known))", .dim)] }
    // The process has not counted all roots yet.
    guard let rootCount else { return [Span("ROOTS at least \(CountText.text(known))", .dim)] }
    guard rootCount > known else { return [Span("ROOTS \(CountText.text(known))", .dim)] }
    return [
      Span("ROOTS first \(CountText.text(known)) of \(CountText.text(rootCount))", .dim)
    ]
  }
}
