// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// How many rows of the list or the tree are on screen; at least 1, so that a page is one.
  var pageHeight: Int { max(1, layout(for: size)?.bodyHeight ?? 1) }

  /// How many rows of what is shown are on screen.
  var screenHeight: Int {
    if picker != nil { return pickerHeight }
    return detail == nil ? pageHeight : detailHeight
  }

  /// Where things are on a screen of some size; `nil` where it is too small for anything.
  func layout(for size: Size) -> Layout? {
    Layout(
      size: size, showsMeters: showsMeters, wantsPane: view.hasPane,
      bannerCount: shown.warnings.count(where: \.isDeadlock),
      processCount: shown.processes.count,
      nameLineCount: wholeName.map { NameView.lineCount(of: $0.text, columns: size.columns) } ?? 0)
  }

  /// The keys of the list's rows that are on screen.
  var visibleKeys: ArraySlice<SortKey> { visibleKeys(height: pageHeight) }

  /// The keys of the list's rows on a screen with room for `height` of them.
  func visibleKeys(height: Int) -> ArraySlice<SortKey> {
    let top = list.top(in: rows, height: height)
    return rows.keys[top..<min(rows.count, top + height)]
  }

  /// The rows of the tree that are on screen.
  var visibleTreeRows: ArraySlice<DependencyTree.Row> { visibleTreeRows(height: pageHeight) }

  /// The rows of the tree on a screen with room for `height` of them.
  func visibleTreeRows(height: Int) -> ArraySlice<DependencyTree.Row> {
    guard let tree else { return [] }
    let top = tree.top(height: height)
    return tree.tree.rows[top..<min(tree.tree.rows.count, top + height)]
  }

  /// The operation that the sentence is about; `nil` where there is none.
  var selected: OperationReport.ID? { detail?.id ?? selectedInView }

  private var selectedInView: OperationReport.ID? {
    switch view {
    case .operations: list.id
    case .tree: tree?.selected
    case .queues: nil
    case .timeline: timeline.run?.id
    case .events: selectedEvent?.operation
    }
  }

  /// The operation that keys act on; `nil` where the selected row stands for several or none.
  var selectedOperation: OperationReport.ID? {
    detail == nil && view == .tree ? tree?.selectedOperation : selected
  }

  /// How long what is shown will probably run on.
  var estimates: RunTimeEstimates { RunTimeEstimates(shown.classTimes, at: shownTime) }

  /// Brings everything that follows from the workload and the size up to date.
  mutating func settle() {
    let height = pageHeight
    let operations = shown.operations
    rows = ListRows(of: shown, as: listing, selected: list.id, at: shownTime)
    list.settle(in: rows, height: height)
    dropTagsOfWhatIsOver()
    if view == .tree {
      let estimates = estimates
      tree?.settle(operations: operations, estimates: estimates, height: height)
    }
    pane = makePane()
    queues.settle(in: shown.queues, height: height)
    if view == .timeline { timeline.settle(shown, at: shownTime, height: height) }
    events.settle(in: shown.events.numbers, height: height)
    guard view == .operations, detail == nil, helpTop == nil, picker == nil else { return }
    let cancellable = visibleKeys.filter { !$0.isOver }.map(\.id)
    cancelKeys.assign(to: cancellable, at: now)
  }

  /// Whether the selected operation has a pane of its own beside the rows.
  var hasPane: Bool {
    helpTop == nil && (detail != nil || layout(for: size)?.pane != nil)
  }

  private func makePane() -> Pane? {
    guard hasPane, let id = selected else { return nil }
    let operations = shown.operations
    // The detail is scrolled; a pane beside the rows is not.
    let rowLimit = detail == nil ? pageHeight : Self.paneGraphLimit
    return Pane(
      waitsFor: DependencyTree(
        root: id, direction: .waitsFor, operations: operations, rowLimit: rowLimit),
      blocks: DependencyTree(
        root: id, direction: .blocks, operations: operations, rowLimit: rowLimit))
  }
}
