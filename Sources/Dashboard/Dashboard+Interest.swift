// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// The data that the dashboard requests from the monitor: the data on the screen, and data about the
  /// operations that keys would act on.
  var wantedInterest: Interest {
    var interest = Interest(
      order: list.listing.order, filter: list.listing.filter, hidesOver: list.listing.hidesOver,
      rowLimit: ListRows.limit)
    interest.showsWarnedOnly = list.listing.showsWarnedOnly
    interest.subjects = Set(prompts.question?.ids ?? selectedOperation.map { [$0] } ?? [])
    interest.operations = interest.subjects.union(tags.ids)
    if let id = prompts.goTo?.id { interest.operations.insert(id) }
    if let selected {
      interest.operations.insert(selected)
      if hasPane {
        for direction in [GraphDirection.waitsFor, .blocks] {
          interest.graphs.insert(
            Interest.Graph(root: selected, direction: direction, limit: Self.paneGraphLimit))
        }
      } else {
        // Requests the dependencies of the operation, because the sentence below the rows names them.
        interest.graphs.insert(
          Interest.Graph(root: selected, direction: .waitsFor, limit: Self.sentenceGraphLimit))
      }
    }
    if screen.view == .tree, let tree {
      if let root = tree.tree.root {
        interest.graphs.insert(
          Interest.Graph(root: root, direction: tree.direction, limit: TreeState.rowLimit))
      } else {
        interest.rootLimit = TreeState.rowLimit
      }
    }
    interest.detail = detail?.id
    if screen.view == .events { interest.eventLimit = EventLog.limit }
    if screen.view == .timeline {
      interest.timeline = Interest.Timeline(
        window: timeline.window, limit: TimelineState.runLimit)
    }
    interest.warningKinds = configuration.warningKinds
    return interest
  }

  /// The maximum number of operations of each dependency graph in the pane.
  static let paneGraphLimit = 300
  private static let sentenceGraphLimit = 64
}
