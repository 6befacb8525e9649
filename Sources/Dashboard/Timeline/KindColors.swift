// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The colors of kinds in the timeline.
///
/// A kind keeps its color while it has runs in the time window. If more kinds than ``roles`` have runs, the others
/// have the color of ``Role/otherKind``.
struct KindColors: Sendable, Equatable {
  /// The roles of kinds that have a color of their own, in the order in which kinds get them.
  static let roles: [Role] = [.kind0, .kind1, .kind2, .kind3, .kind4, .kind5]
  /// The letters of the kinds, in the order of ``roles``. They replace the colors on a terminal without colors.
  private static let letters: [Unicode.Scalar] = ["a", "b", "c", "d", "e", "f"]

  /// The kinds that have a color of their own, each with the index of its role.
  private var indices: [String: Int] = [:]
  /// Whether a run has no color of its own.
  private(set) var hasOthers = false

  /// Gives colors to the kinds of these runs, the kinds with the longest total run time first. `now` is the end of runs
  /// that have not ended.
  mutating func settle(_ runs: [OperationRun], at now: MonitorTime) {
    var times: [String: Duration] = [:]
    var isKindMissing = false
    for run in runs {
      guard let kind = run.kind else {
        isKindMissing = true
        continue
      }
      times[kind, default: .zero] += max(.zero, (run.finished ?? now) - run.started)
    }
    indices = indices.filter { times[$0.key] != nil }
    var free = Array(Self.roles.indices.filter { !indices.values.contains($0) }.reversed())
    if !free.isEmpty, times.count > indices.count {
      let news = times.filter { indices[$0.key] == nil }
      for (kind, _) in news.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
        guard let index = free.popLast() else { break }
        indices[kind] = index
      }
    }
    hasOthers = isKindMissing || times.count > indices.count
  }

  /// The kinds that have a color of their own, in the order of their colors.
  var kinds: [String] { indices.sorted { $0.value < $1.value }.map(\.key) }

  /// Returns the role in which runs of a kind are drawn. The kind is `nil` if it is unknown.
  func role(of kind: String?) -> Role {
    kind.flatMap { indices[$0] }.map { Self.roles[$0] } ?? .otherKind
  }

  /// Returns the letter of a kind; `nil` if the kind has no color of its own.
  func letter(of kind: String?) -> Unicode.Scalar? {
    kind.flatMap { indices[$0] }.map { Self.letters[$0] }
  }
}
