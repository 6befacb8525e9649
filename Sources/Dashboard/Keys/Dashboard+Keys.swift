// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// The topmost part of the screen, which receives key presses.
  var keyContext: KeyContext {
    if prompts.question != nil { return .question }
    return screen.helpTop != nil ? .help : screenContext
  }

  /// The part of the screen that receives key presses if neither a question nor the help is open.
  var screenContext: KeyContext {
    if setup != nil { return .setup }
    if picker != nil { return .picker }
    if warningList != nil { return .warnings }
    if let detail { return detail.log == nil ? .detail : .log }
    if openQueueScreen != nil { return .queue }
    switch screen.view {
    case .operations: return shownGroups == nil ? .list : .groups
    case .tree: return .tree
    case .queues: return .queues
    case .timeline: return .timeline
    case .events: return .events
    }
  }

  /// Processes a key or an action of the mouse. Pasted text is never interpreted as commands.
  mutating func reduce(_ input: Input) -> [Effect] {
    if case .mouse(let input) = input { return reduce(input) }
    if case .paste = input, prompts.text == nil { return [.bell] }
    screen.notice = nil
    let action =
      (replay == nil ? nil : ReplayKeys.action(for: input, in: keyContext))
      ?? KeyTable.action(for: input, in: keyContext)
    let worksEverywhere =
      action == .program(.quit) || action == .program(.suspend)
      || action == .program(.repaint)
    if !worksEverywhere {
      if prompts.text != nil { return takeForPrompt(input) }
      if prompts.isChoosingOrder { return takeForSortMenu(input) }
      if prompts.goTo != nil, takeForGoTo(input) { return [] }
      if list.cancelKeys.isArmed, prompts.question == nil { return takeForCancelKeys(input) }
    }
    guard let action else { return prompts.question == nil ? [] : [.bell] }
    return perform(action, input)
  }

  private mutating func perform(_ action: KeyAction, _ input: Input) -> [Effect] {
    stopSearch(before: action)
    queueScreen?.awaited = nil
    if let refusal = ghostRefusal(of: action) {
      show(refusal, isWarning: true)
      return [.bell]
    }
    if followsEvents, concernsEvent(action) {
      events.hold(in: shown.events.numbers, height: pageHeight)
    }
    holdNextOperation(before: action)
    switch action {
    case .program(let key): return perform(key, input)
    case .screen(let key): return perform(key, input)
    case .movement(let key): return perform(key)
    case .list(let key): return perform(key, input)
    case .tree(let key): return perform(key)
    case .timeline(let key): return perform(key)
    case .detail(let key): return perform(key)
    case .log(let key): return perform(key)
    case .picker(let key): return perform(key)
    case .command(let key): return perform(key)
    case .queue(let key): return perform(key)
    case .queueScreen(let key): return perform(key)
    case .groups(let key): return perform(key)
    case .setup(let key): return perform(key)
    case .warnings(let key): return perform(key)
    case .answer(let key): return perform(key)
    case .replay(let key): return perform(key)
    }
  }

  private mutating func perform(_ key: KeyAction.Program, _ input: Input) -> [Effect] {
    switch key {
    case .quit: return [input == .control("c") ? .interrupt : .quit]
    case .suspend: return [.suspendProgram]
    case .repaint:
      let contents = treeContents
      tree?.arrange(with: contents)
      return [.repaint]
    case .close: return closeTopLayer(quitsAtRoot: true)
    case .back: return closeTopLayer(quitsAtRoot: false)
    case .export: return export()
    case .changeRefresh: return changeRefresh(by: input == .character("[") ? 1 : -1)
    }
  }

  private mutating func perform(_ key: KeyAction.Screen, _ input: Input) -> [Effect] {
    switch key {
    case .toggleHelp: screen.helpTop = screen.helpTop == nil ? 0 : nil
    case .nextView: show(screen.view.neighbour(1))
    case .previousView: show(screen.view.neighbour(-1))
    case .showView:
      if case .alt(let digit) = input { show(digit: digit) }
    case .toggleMeters: screen.showsMeters.toggle()
    case .toggleName: return toggleName()
    case .pause: togglePause()
    case .copy: return copySelected()
    }
    return []
  }

  private mutating func perform(_ key: KeyAction.Movement) -> [Effect] {
    switch key {
    case .down: move(by: 1)
    case .up: move(by: -1)
    case .pageDown: move(by: screenHeight)
    case .pageUp: move(by: -screenHeight)
    case .halfPageDown: move(by: max(1, screenHeight / 2))
    case .halfPageUp: move(by: -max(1, screenHeight / 2))
    case .toTop: moveToEnd(isTop: true)
    case .toBottom: moveToEnd(isTop: false)
    }
    return []
  }

  private mutating func closeTopLayer(quitsAtRoot: Bool) -> [Effect] {
    if screen.helpTop != nil {
      screen.helpTop = nil
    } else if setup != nil {
      setup = nil
    } else if picker != nil {
      return closePicker()
    } else if warningList != nil {
      warningList = nil
    } else if detail?.log != nil {
      closeLog()
    } else if detail != nil {
      detail = nil
    } else if openQueueScreen != nil {
      queueScreen = nil
    } else if wholeName != nil {
      screen.showsName = false
    } else if shownGroups != nil {
      groups = nil
    } else if screen.view != .operations {
      screen.view = .operations
    } else if quitsAtRoot {
      return askToQuit()
    } else {
      clearListing()
    }
    return []
  }

  private var helpLineCount: Int { HelpView.lineCount(of: self) }

  mutating func move(by offset: Int) {
    let height = pageHeight
    if let top = screen.helpTop {
      screen.helpTop = max(
        0, min(top + offset, helpLineCount - 1))
    } else if setup != nil {
      moveInSetup(by: offset)
    } else if picker != nil {
      let height = pickerHeight
      picker?.move(by: offset, height: height)
    } else if warningList != nil {
      let (warnings, height) = (shown.warnings, warningListHeight)
      warningList?.move(by: offset, in: warnings, height: height)
    } else if detail?.log != nil {
      scrollLog(by: offset)
    } else if detail != nil {
      scrollDetail(by: offset)
    } else if openQueueScreen != nil {
      moveInQueueScreen(by: offset)
    } else if shownGroups != nil {
      moveInGroups(by: offset)
    } else {
      switch screen.view {
      case .operations: list.selection.move(by: offset, in: list.rows, height: height)
      case .tree: tree?.move(by: offset, height: height)
      case .queues: queues.move(by: offset, in: shown.queues, height: height)
      case .timeline: timeline.move(by: offset, height: height)
      case .events: events.move(by: offset, in: shown.events.numbers, height: height)
      }
    }
  }

  private mutating func moveToEnd(isTop: Bool) {
    let height = pageHeight
    if screen.helpTop != nil {
      screen.helpTop =
        isTop ? 0 : max(0, helpLineCount - 1)
      return
    }
    let farthest = isTop ? -Int.max / 2 : .max / 2
    if setup != nil || picker != nil || warningList != nil { return move(by: farthest) }
    if detail?.log != nil { return moveLogToEnd(isTop: isTop) }
    if detail != nil || openQueueScreen != nil || shownGroups != nil { return move(by: farthest) }
    switch screen.view {
    case .operations where isTop: list.selection.moveToTop(in: list.rows, height: height)
    case .operations: list.selection.moveToBottom(in: list.rows, height: height)
    case .tree where isTop: tree?.moveToTop(height: height)
    case .tree: tree?.moveToBottom(height: height)
    case .queues: queues.move(by: farthest, in: shown.queues, height: height)
    case .timeline: timeline.move(by: farthest, height: height)
    case .events where isTop: events.moveToTop(in: shown.events.numbers, height: height)
    case .events: events.follow(in: shown.events.numbers)
    }
  }

  /// Shows another view. If the user has not opened a tree yet, the tree view shows the tree of all unfinished
  /// operations.
  mutating func show(_ view: ViewKind) {
    detail = nil
    warningList = nil
    queueScreen = nil
    if view == .tree, tree == nil { return openTreeOfAll() }
    screen.view = view
  }

  private mutating func show(digit: Unicode.Scalar) {
    let views = ViewKind.allCases
    guard let number = Int(String(Character(digit))), views.indices.contains(number - 1) else {
      return
    }
    show(views[number - 1])
  }

  /// Decreases the refresh rate by this number of steps, or increases it if the number is negative.
  private mutating func changeRefresh(by step: Int) -> [Effect] {
    let isChanged = screen.refresh.slowDown(by: step)
    let refresh = "refresh \(screen.refresh.words)"
    let limit = step > 0 ? "\(refresh) is the slowest rate" : "\(refresh) is the fastest rate"
    show(isChanged ? "\(refresh); keys act at once" : limit, isWarning: !isChanged)
    return isChanged ? [] : [.bell]
  }

  private mutating func togglePause() {
    paused = paused == nil ? Paused(monitored: live, time: shownTime) : nil
  }
}
