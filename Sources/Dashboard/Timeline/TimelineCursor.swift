// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Availability {
  /// Whether the timeline has a cursor on one run, and colors for kinds.
  static let timelineCursor = false
}

extension Dashboard {
  /// Selects an earlier or a later run of the selected slot.
  ///
  /// After an earlier run is selected, new runs of the slot do not change the selection until the newest run is
  /// selected again.
  mutating func selectRun(by step: Int) -> [Effect] { [.bell] }
}

/// The colors of kinds in the timeline.
///
/// A kind keeps its color while it has runs in the time window. If more kinds than ``roles`` have runs, the others
/// have the color of ``Role/otherKind``.
struct KindColors: Sendable, Equatable {
  /// The roles of kinds that have a color of their own, in the order in which kinds get them.
  static let roles: [Role] = [.kind0, .kind1, .kind2, .kind3, .kind4, .kind5]

  /// Gives colors to the kinds of these runs, the kinds with the longest total run time first.
  mutating func settle(_ runs: [OperationRun]) {}

  /// Returns the role in which runs of a kind are drawn.
  func role(of kind: String) -> Role { .otherKind }
}
