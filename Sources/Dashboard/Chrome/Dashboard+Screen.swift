// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// The number of rows for the list or the tree on the screen. It is at least 1, so that the page keys
  /// always move the selection.
  var pageHeight: Int {
    let height = screen.layout?.bodyHeight ?? 1
    return max(1, screen.view == .timeline ? TimelineView.height(in: height) : height)
  }

  /// The number of rows on the screen for the picker's list, the detail screen or the view, depending on
  /// which of them is shown.
  var screenHeight: Int {
    if setup != nil { return overlayHeight }
    if picker != nil { return pickerHeight }
    if warningList != nil { return warningListHeight }
    if detail != nil { return detailHeight }
    return openQueueScreen == nil ? pageHeight : queueListHeight
  }

  /// The number of rows on the screen for the contents of the open overlay; at least 1.
  var overlayHeight: Int { max(1, screen.overlayLayout?.bodyHeight ?? 1) }

  /// Computes the layout for the present contents of the screen. The functions that process keys and messages
  /// and the functions that draw use this layout.
  mutating func layOut() {
    screen.layOut(layoutRequest(for: screen.size), overlay: overlayRequest(for: screen.size))
  }

  /// Returns the values that the layout of the view depends on.
  func layoutRequest(for size: Size) -> Layout.Request {
    Layout.Request(
      size: size, showsMeters: screen.showsMeters,
      wantsPane: screen.view.hasPane && shownGroups == nil, wantsQueues: wantsQueues,
      wantsGraph: wantsQueues, hasReplayBar: replay != nil,
      bannerCount: shown.warnings.count(where: \.isDeadlock),
      processCount: shown.processes.count,
      nameLineCount: wholeName.map { NameView.lineCount(of: $0.text, columns: size.columns) } ?? 0)
  }

  /// Whether the rows above the view contain the queues. A view that shows the queues itself does not repeat them.
  private var wantsQueues: Bool {
    switch screen.view {
    case .operations: shownGroups?.by != .queue
    case .queues, .timeline: false
    case .tree, .events: true
    }
  }

  /// Returns the values that the layout of the overlay depends on. The overlay is the setup, the picker, the list of
  /// warnings, the detail screen or the queue screen; `nil` if none of them is open.
  func overlayRequest(for size: Size) -> Layout.Request? {
    let hasList = setup != nil || picker != nil || warningList != nil
    guard hasList || detail != nil || openQueueScreen != nil else { return nil }
    let hasBanners = !hasList
    return Layout.Request(
      size: size, showsMeters: false, wantsPane: false, wantsRules: false,
      hasReplayBar: replay != nil && setup == nil && picker == nil,
      bannerCount: hasBanners ? shown.warnings.count(where: \.isDeadlock) : 0)
  }

  /// The sort keys of the list's rows that are on screen.
  var visibleKeys: ArraySlice<SortKey> { visibleKeys(height: pageHeight) }

  /// Returns the sort keys of the list's rows on a screen with room for `height` rows.
  func visibleKeys(height: Int) -> ArraySlice<SortKey> {
    list.rows.keys[list.selection.window(in: list.rows, height: height).indexes]
  }

  /// The rows of the tree that are on screen.
  var visibleTreeRows: ArraySlice<DependencyTree.Row> { visibleTreeRows(height: pageHeight) }

  /// Returns the rows of the tree that are visible on a screen with room for `height` rows.
  func visibleTreeRows(height: Int) -> ArraySlice<DependencyTree.Row> {
    tree.map { $0.tree.rows[$0.window(height: height).indexes] } ?? []
  }

  /// The operation that the sentence below the rows describes; `nil` if the sentence describes no operation.
  var selected: OperationReport.ID? {
    if warningList != nil { return selectedWarning?.operations.first }
    return detail?.id ?? selectedInView
  }

  private var selectedInView: OperationReport.ID? {
    switch screen.view {
    case .operations: shownGroups == nil ? list.selection.id : nil
    case .tree: tree?.selected
    case .queues: openQueueScreen?.selected
    case .timeline: timeline.run?.id
    case .events: selectedEvent?.operation
    }
  }

  /// The operation that keys act on; `nil` if the selected row represents several operations or none.
  var selectedOperation: OperationReport.ID? {
    let isTree = detail == nil && warningList == nil && screen.view == .tree
    return isTree ? tree?.selectedOperation : selected
  }

  /// Estimates of the remaining run times of the shown operations.
  var estimates: RunTimeEstimates {
    RunTimeEstimates(shown.kindTimes, deadlocked: shown.deadlocked, at: shownTime)
  }

  /// Updates the selection, the rows and the layout after the monitored state or the size has changed.
  mutating func settle() {
    layOut()
    let height = pageHeight
    if paused == nil { list.cancelledRows.settle(with: live, at: now) }
    list.settle(with: shown, shownTime: shownTime, height: height, at: now)
    tags.dropOver(in: live, keepsRetryable: canRetry)
    let contents = screen.view == .tree ? treeContents : nil
    if let contents { tree?.settle(with: contents, height: height) }
    // After the update, another operation may be selected. The window with the whole name may need more or
    // fewer rows for the name of that operation.
    layOut()
    screen.pane = makePane(contents?.graph)
    queues.settle(in: shown.queues, height: height)
    settleQueueScreen()
    settlePositionRequest()
    settleGroups()
    settleSetup()
    let (warnings, warningHeight) = (shown.warnings, warningListHeight)
    warningList?.settle(in: warnings, height: warningHeight)
    if screen.view == .timeline { timeline.settle(shown, at: shownTime, height: height) }
    events.settle(in: shown.events, height: height)
    settleCancelKeys()
  }

  /// Gives cancel keys to the operations on the screen that can be cancelled.
  private mutating func settleCancelKeys() {
    guard hasCancelKeys, screen.layout != nil else { return list.cancelKeys.disarm() }
    guard detail == nil, screen.helpTop == nil, picker == nil, setup == nil, shownGroups == nil
    else { return }
    let visible: [OperationReport.ID]
    switch screen.view {
    case .operations: visible = visibleKeys.map(\.id)
    case .tree:
      visible = visibleTreeRows.compactMap { if case .node(let id) = $0.id { id } else { nil } }
    case .queues, .timeline, .events: return
    }
    let cancellable = visible.filter {
      shown.operations.state(of: $0)?.isOver == false && shown.process(of: $0)?.refusal == nil
    }
    list.cancelKeys.assign(to: cancellable, in: screen.view, at: now)
  }

  /// Whether the screen shows the dependency trees of the selected operation, in the pane beside the rows or
  /// on the detail screen.
  var hasPane: Bool {
    screen.helpTop == nil && warningList == nil && setup == nil
      && (detail != nil || screen.layout?.pane != nil)
  }

  /// Creates the trees for the pane. `graph` is the graph of the shown operations; `nil` if it does not exist yet.
  private func makePane(_ graph: OperationGraph?) -> ScreenState.Pane? {
    guard hasPane, let id = selected else { return nil }
    let graph = graph ?? OperationGraph(shown.operations)
    // The detail screen can be scrolled, so it needs more rows than are on screen. The pane beside the rows
    // cannot be scrolled.
    let rowLimit = detail == nil ? pageHeight : Self.paneGraphLimit
    let estimates = RunTimeEstimates(deadlocked: shown.deadlocked)
    // Beside a tree, the pane does not show the direction of that tree.
    let hidden = detail == nil && screen.view == .tree ? self.tree?.direction : nil
    func tree(_ direction: GraphDirection) -> DependencyTree? {
      guard direction != hidden else { return nil }
      return DependencyTree(
        root: id, direction: direction, graph: graph, estimates: estimates,
        rowLimit: rowLimit, scanLimit: Self.paneGraphLimit)
    }
    return ScreenState.Pane(waitsFor: tree(.waitsFor), blocks: tree(.blocks))
  }

  // MARK: The window with the whole name

  /// The contents of the window with the whole name.
  struct WholeName {
    let id: OperationReport.ID
    /// The kind of the operation; empty if the kind is not known.
    let kind: String
    /// The name of the operation or, if it has none, its kind in brackets. The text is unsanitised and of
    /// any length.
    let text: String
  }

  /// The contents of the window with the whole name; `nil` if the window is closed or no operation is
  /// selected.
  var wholeName: WholeName? {
    guard screen.showsName, screen.helpTop == nil, setup == nil, picker == nil,
      warningList == nil, detail == nil, openQueueScreen == nil, let id = selected
    else {
      return nil
    }
    if let report = shown.operations[id] {
      let text = report.name.isEmpty ? "(\(report.kind))" : report.name
      return WholeName(id: id, kind: report.kind, text: text)
    }
    // If the monitor no longer reports the operation, the timeline or the log of events may still contain the
    // operation's name.
    let title = screen.view == .timeline ? timeline.run?.title : selectedEvent?.title
    return WholeName(id: id, kind: "", text: title ?? "the name is no longer stored")
  }

  /// Opens or closes the window with the whole name.
  mutating func toggleName() -> [Effect] {
    guard screen.showsName || selected != nil else { return refuseWithoutOperation() }
    screen.showsName.toggle()
    return []
  }
}
