// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// What lies on top and takes the keys.
  var keyContext: KeyContext {
    if question != nil { return .question }
    return helpTop != nil ? .help : screenContext
  }

  /// Which keys the screen takes, whatever lies on top of it.
  var screenContext: KeyContext {
    if picker != nil { return .picker }
    if detail != nil { return .detail }
    switch view {
    case .operations: return .list
    case .tree: return .tree
    case .queues: return .queues
    case .timeline: return .timeline
    case .events: return .events
    }
  }

  /// Takes in a key. Pasted text is never read as commands.
  mutating func reduce(_ input: Input) -> [Effect] {
    if case .paste = input, prompt == nil { return [.bell] }
    notice = nil
    let action =
      (replay == nil ? nil : ReplayKeys.action(for: input, in: keyContext))
      ?? KeyTable.action(for: input, in: keyContext)
    let worksEverywhere = action == .quit || action == .suspendProgram || action == .repaint
    if !worksEverywhere {
      if prompt != nil { return takeForPrompt(input) }
      if isChoosingOrder { return takeForSortMenu(input) }
      if goTo != nil, takeForGoTo(input) { return [] }
      if cancelKeys.isArmed, question == nil { return takeForCancelKeys(input) }
    }
    guard let action else { return question == nil ? [] : [.bell] }
    return perform(action, input)
  }

  private mutating func perform(_ action: KeyAction, _ input: Input) -> [Effect] {
    performInReplay(action) ?? performInProgram(action, input) ?? performMovement(action, input)
      ?? performInList(action)
      ?? performCommand(action) ?? []
  }

  /// What concerns the program and its views; `nil` for everything else.
  private mutating func performInProgram(_ action: KeyAction, _ input: Input) -> [Effect]? {
    switch action {
    case .quit: return [input == .control("c") ? .interrupt : .quit]
    case .suspendProgram: return [.suspendProgram]
    case .repaint:
      let (operations, estimates) = (shown.operations, estimates)
      tree?.arrange(operations: operations, estimates: estimates)
      return [.repaint]
    case .close, .back: return closeTopLayer(quitsAtRoot: action == .close)
    case .toggleHelp: helpTop = helpTop == nil ? 0 : nil
    case .openDetail: return openDetail()
    case .nextOperation: return showNeighbourInDetail(step: 1)
    case .previousOperation: return showNeighbourInDetail(step: -1)
    case .toggleTree: toggleTree()
    case .nextView: show(view.neighbour(1))
    case .previousView: show(view.neighbour(-1))
    case .showView:
      if case .alt(let digit) = input { show(digit: digit) }
    case .showDependencies: return show(.waitsFor)
    case .showDependents: return show(.blocks)
    case .zoomIn: return zoomTimeline(by: -1)
    case .zoomOut: return zoomTimeline(by: 1)
    case .toggleMeters: showsMeters.toggle()
    case .toggleName: return toggleName()
    case .pause: togglePause()
    case .export: return export()
    case .openPicker: openPicker()
    case .openChoice: return openChoice()
    case .lookAgain: return lookAgain()
    case .changeRefresh: return changeRefresh(by: input == .character("[") ? 1 : -1)
    default: return nil
    }
    return []
  }

  private mutating func performMovement(_ action: KeyAction, _ input: Input) -> [Effect]? {
    switch action {
    case .moveDown: move(by: 1)
    case .moveUp: move(by: -1)
    case .pageDown: move(by: screenHeight)
    case .pageUp: move(by: -screenHeight)
    case .halfPageDown: move(by: max(1, screenHeight / 2))
    case .halfPageUp: move(by: -max(1, screenHeight / 2))
    case .moveToTop: moveToEnd(isTop: true)
    case .moveToBottom: moveToEnd(isTop: false)
    case .enterRow: return enterTreeRow()
    case .reroot: return rerootTree()
    case .showRoots: tree = TreeState(allOf: shown.operations)
    case .fold: return changeTree { $0.foldOrGoUp(height: $1) }
    case .unfold: return changeTree { $0.unfoldOrGoDown(height: $1) }
    case .toggleAllFolds: tree?.toggleAll()
    case .goToBlocker: return goToBlocker()
    case .goToWorst: return goToWorst()
    case .goToOperation:
      if case .character(let digit) = input {
        goTo = GoToPrompt(digit, process: goToProcess, at: now)
      }
    default: return nil
    }
    return []
  }

  private mutating func performInList(_ action: KeyAction) -> [Effect]? {
    switch action {
    case .openFilter: openFilterPrompt()
    case .openSearch: openSearchPrompt()
    case .searchNext: return searchAgain(step: 1)
    case .searchPrevious: return searchAgain(step: -1)
    case .openSortMenu: isChoosingOrder = true
    case .sortNext: moveSortColumn(by: 1)
    case .sortPrevious: moveSortColumn(by: -1)
    case .invertOrder: listing.order.isReversed.toggle()
    case .pin: list.isPinned.toggle()
    case .scrollLeft: titleOffset = max(0, titleOffset - 8)
    case .scrollRight: titleOffset = min(200, titleOffset + 8)
    case .toggleOver: listing.hidesOver.toggle()
    case .toggleWarned: listing.showsWarnedOnly.toggle()
    default: return nil
    }
    return []
  }

  private mutating func performCommand(_ action: KeyAction) -> [Effect]? {
    switch action {
    case .tag: return toggleTag()
    case .tagWithDependents: return tagWithDependents()
    case .untagAll: return untagAll()
    case .cancel: return askToCancel()
    case .armCancelKeys: return armCancelKeys()
    case .suspendQueue: return suspendQueue()
    case .widenQueue: return changeWidth(by: 1)
    case .narrowQueue: return changeWidth(by: -1)
    case .raisePriority: return changePriority(by: 1)
    case .lowerPriority: return changePriority(by: -1)
    case .answerNo: answerNo()
    case .answerYes: return answer(includingDependents: false)
    case .answerAlso: return answer(includingDependents: true)
    default: return nil
    }
    return []
  }

  private mutating func closeTopLayer(quitsAtRoot: Bool) -> [Effect] {
    if helpTop != nil {
      helpTop = nil
    } else if picker != nil {
      return closePicker()
    } else if detail != nil {
      detail = nil
    } else if wholeName != nil {
      showsName = false
    } else if view != .operations {
      view = .operations
    } else if quitsAtRoot {
      return askToQuit()
    }
    return []
  }

  private var helpLineCount: Int { HelpView.lineCount(of: self) }

  mutating func move(by offset: Int) {
    let height = pageHeight
    if let top = helpTop {
      helpTop = max(
        0, min(top + offset, helpLineCount - 1))
    } else if picker != nil {
      let height = pickerHeight
      picker?.move(by: offset, height: height)
    } else if detail != nil {
      scrollDetail(by: offset)
    } else {
      switch view {
      case .operations: list.move(by: offset, in: rows, height: height)
      case .tree: tree?.move(by: offset, height: height)
      case .queues: queues.move(by: offset, in: shown.queues, height: height)
      case .timeline: timeline.move(by: offset, height: height)
      case .events: events.move(by: offset, in: shown.events.numbers, height: height)
      }
    }
  }

  private mutating func moveToEnd(isTop: Bool) {
    let height = pageHeight
    if helpTop != nil {
      helpTop =
        isTop ? 0 : max(0, helpLineCount - 1)
      return
    }
    if picker != nil { return move(by: isTop ? -.max / 2 : .max / 2) }
    if detail != nil { return scrollDetail(by: isTop ? -.max / 2 : .max / 2) }
    switch view {
    case .operations where isTop: list.moveToTop(in: rows, height: height)
    case .operations: list.moveToBottom(in: rows, height: height)
    case .tree where isTop: tree?.moveToTop(height: height)
    case .tree: tree?.moveToBottom(height: height)
    case .queues: queues.move(by: isTop ? -.max / 2 : .max / 2, in: shown.queues, height: height)
    case .timeline: timeline.move(by: isTop ? -.max / 2 : .max / 2, height: height)
    case .events where isTop: events.moveToTop(in: shown.events.numbers, height: height)
    case .events: events.follow()
    }
  }

  /// Shows another view; the tree is that of the selected operation where none was open.
  private mutating func show(_ view: ViewKind) {
    detail = nil
    if view == .tree, tree == nil { return openTree(.waitsFor) }
    self.view = view
  }

  private mutating func show(digit: Unicode.Scalar) {
    let views = ViewKind.allCases
    guard let number = Int(String(Character(digit))), views.indices.contains(number - 1) else {
      return
    }
    show(views[number - 1])
  }

  private mutating func openTree(_ direction: DependencyTree.Direction) {
    guard let id = detail?.id ?? list.id else { return }
    openTree(of: id, direction)
  }

  private mutating func toggleTree() {
    if view == .tree, detail == nil { view = .operations } else { openTree(.waitsFor) }
  }

  /// Opens the tree of an operation; as the one that was open where nothing else is said.
  mutating func openTree(
    of id: OperationReport.ID, _ direction: DependencyTree.Direction? = nil
  ) {
    view = .tree
    detail = nil
    tree = TreeState(
      root: id, direction: direction ?? tree?.direction ?? .waitsFor, operations: shown.operations)
  }

  /// Changes the open tree, for a screen of so many rows; sounds the bell where that is refused.
  mutating func changeTree(_ body: (inout TreeState, Int) -> Bool) -> [Effect] {
    let height = pageHeight
    guard var tree, body(&tree, height) else { return [.bell] }
    self.tree = tree
    return []
  }

  /// Shows what the selected operation waits for, or what waits for it; turns the tree of one
  /// operation round.
  private mutating func show(_ direction: DependencyTree.Direction) -> [Effect] {
    guard detail == nil, view == .tree, let tree else {
      openTree(direction)
      return []
    }
    guard tree.tree.root != nil else {
      guard let id = tree.selectedOperation else { return [.bell] }
      openTree(of: id, direction)
      return []
    }
    let isBackAgain = direction == .blocks && tree.direction == .blocks
    self.tree?.direction = isBackAgain ? .waitsFor : direction
    return []
  }

  private mutating func enterTreeRow() -> [Effect] {
    switch tree?.cursor {
    case .reference(let id, _):
      let height = pageHeight
      return tree?.moveToNode(id, height: height) == true ? [] : [.bell]
    case .group, .queue, .folded: return changeTree { $0.unfoldOrGoDown(height: $1) }
    case .node: return openDetail()
    case .unknown, .cut, nil: return [.bell]
    }
  }

  /// Makes the tree's row the root, and the list's selection where it has a row there.
  private mutating func rerootTree() -> [Effect] {
    guard let tree, let id = tree.selectedOperation, let report = shown.operations[id] else {
      return [.bell]
    }
    self.tree = TreeState(root: id, direction: tree.direction, operations: shown.operations)
    _ = list.select(report.id, in: rows, height: pageHeight)
    return []
  }

  /// Selects an operation in the list, or says why not.
  mutating func select(_ id: OperationReport.ID) -> Bool {
    guard let report = shown.operations[id] else {
      show("\(id) is not known", isWarning: true)
      return false
    }
    guard list.select(id, in: rows, height: pageHeight) else {
      show("\(id) \(whyNotListed(report))", isWarning: true)
      return false
    }
    return true
  }

  /// Draws news rarer by so many steps, or more often where negative.
  private mutating func changeRefresh(by step: Int) -> [Effect] {
    let isChanged = refresh.slowDown(by: step)
    let remark = isChanged ? "; what keys change, at once" : step > 0 ? " at least" : " at most"
    show("news are drawn \(refresh.words)\(remark)", isWarning: !isChanged)
    return isChanged ? [] : [.bell]
  }

  private mutating func togglePause() {
    paused = paused == nil ? Paused(workload: live, time: shownTime) : nil
  }

  /// Takes a key for the number that is being typed; `false` where the key ends it and still has
  /// to be done.
  private mutating func takeForGoTo(_ input: Input) -> Bool {
    if case .character(let digit) = input,
      ("0"..."9").contains(digit) || digit == "#" && goTo?.takesSign == true
    {
      goTo?.append(digit, at: now)
    } else if input == .key(.backspace) {
      goTo?.removeLast(at: now)
      if goTo?.digits.isEmpty == true { goTo = nil }
    } else if input == .key(.escape) || input == .character("q") {
      goTo = nil
    } else {
      finishGoTo()
      return input == .key(.enter)
    }
    return true
  }

  /// Goes to the operation whose number was typed, or says why not.
  mutating func finishGoTo() {
    guard let goTo else { return }
    self.goTo = nil
    guard let id = goTo.id else { return show("\(goTo.text) is not known", isWarning: true) }
    if select(id), view == .tree, let direction = tree?.direction { openTree(direction) }
  }
}
