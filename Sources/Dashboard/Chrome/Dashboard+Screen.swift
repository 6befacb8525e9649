// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// How many rows of the list or the tree are on screen; at least 1, so that a page is one.
  var pageHeight: Int { max(1, screen.layout?.bodyHeight ?? 1) }

  /// How many rows of what is shown are on screen.
  var screenHeight: Int {
    if picker != nil { return pickerHeight }
    return detail == nil ? pageHeight : detailHeight
  }

  /// Lays the screen out for what is to be shown. Keys, messages and the picture use this layout.
  mutating func layOut() {
    screen.layOut(layoutRequest(for: screen.size), overlay: overlayRequest(for: screen.size))
  }

  /// What the layout of the view depends on.
  func layoutRequest(for size: Size) -> Layout.Request {
    Layout.Request(
      size: size, showsMeters: screen.showsMeters, wantsPane: screen.view.hasPane,
      bannerCount: shown.warnings.count(where: \.isDeadlock),
      processCount: shown.processes.count,
      nameLineCount: wholeName.map { NameView.lineCount(of: $0.text, columns: size.columns) } ?? 0)
  }

  /// What the layout of what lies over the view depends on; `nil` if nothing does.
  func overlayRequest(for size: Size) -> Layout.Request? {
    guard picker != nil || detail != nil else { return nil }
    return Layout.Request(
      size: size, showsMeters: false, wantsPane: false, wantsRules: false,
      bannerCount: picker == nil ? shown.warnings.count(where: \.isDeadlock) : 0)
  }

  /// The keys of the list's rows that are on screen.
  var visibleKeys: ArraySlice<SortKey> { visibleKeys(height: pageHeight) }

  /// The keys of the list's rows on a screen with room for `height` of them.
  func visibleKeys(height: Int) -> ArraySlice<SortKey> {
    let top = list.selection.top(in: list.rows, height: height)
    return list.rows.keys[top..<min(list.rows.count, top + height)]
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
    switch screen.view {
    case .operations: list.selection.id
    case .tree: tree?.selected
    case .queues: nil
    case .timeline: timeline.run?.id
    case .events: selectedEvent?.operation
    }
  }

  /// The operation that keys act on; `nil` where the selected row stands for several or none.
  var selectedOperation: OperationReport.ID? {
    detail == nil && screen.view == .tree ? tree?.selectedOperation : selected
  }

  /// How long what is shown will probably run on.
  var estimates: RunTimeEstimates { RunTimeEstimates(shown.classTimes, at: shownTime) }

  /// Brings everything that follows from what is known and from the size up to date.
  mutating func settle() {
    layOut()
    let height = pageHeight
    let operations = shown.operations
    list.rows = ListRows(of: shown, as: list.listing, selected: list.selection.id, at: shownTime)
    list.selection.settle(in: list.rows, height: height)
    tags.dropOver(in: live)
    if screen.view == .tree {
      let estimates = estimates
      tree?.settle(operations: operations, estimates: estimates, height: height)
    }
    // Another operation may be selected now, whose name takes more rows, or fewer.
    layOut()
    screen.pane = makePane()
    queues.settle(in: shown.queues, height: height)
    if screen.view == .timeline { timeline.settle(shown, at: shownTime, height: height) }
    events.settle(in: shown.events.numbers, height: height)
    layOut()
    guard screen.view == .operations, detail == nil, screen.helpTop == nil, picker == nil else {
      return
    }
    let cancellable = visibleKeys.filter { !$0.isOver }.map(\.id)
    list.cancelKeys.assign(to: cancellable, at: now)
  }

  /// Whether the selected operation has a pane of its own beside the rows.
  var hasPane: Bool {
    screen.helpTop == nil && (detail != nil || screen.layout?.pane != nil)
  }

  private func makePane() -> ScreenState.Pane? {
    guard hasPane, let id = selected else { return nil }
    let operations = shown.operations
    // The detail is scrolled; a pane beside the rows is not.
    let rowLimit = detail == nil ? pageHeight : Self.paneGraphLimit
    return ScreenState.Pane(
      waitsFor: DependencyTree(
        root: id, direction: .waitsFor, operations: operations, rowLimit: rowLimit),
      blocks: DependencyTree(
        root: id, direction: .blocks, operations: operations, rowLimit: rowLimit))
  }
}
