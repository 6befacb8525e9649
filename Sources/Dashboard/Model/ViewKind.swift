// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What can be shown below the meters, in the order in which Tab goes through it.
enum ViewKind: Sendable, CaseIterable {
  case operations, tree, queues, timeline, events

  /// Whether the selected operation has a pane beside it, where there is room.
  var hasPane: Bool { self == .operations || self == .tree }

  /// The view so many steps further, around the end.
  func neighbour(_ steps: Int) -> ViewKind {
    let views = Self.allCases
    guard let index = views.firstIndex(of: self) else { return self }
    return views[((index + steps) % views.count + views.count) % views.count]
  }
}
