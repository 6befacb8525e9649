// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Whether the dashboard reacts to the mouse. The program's loop switches the reports of the terminal on before the
  /// first message. ``Effect/setMouse(_:)`` reports each later change.
  package var usesMouse: Bool { settings.usesMouse }

  /// The number of rows by which a step of the wheel moves the selection.
  private static let wheelStep = 3

  /// Processes an action of the mouse.
  ///
  /// While the user types a text or selects from a menu, the mouse has no effect.
  mutating func reduce(_ input: MouseInput) -> [Effect] {
    guard settings.usesMouse, !isPrompting else { return [] }
    switch input.kind {
    case .press: return click(row: input.row, column: input.column)
    case .wheelUp: return turnWheel(by: -Self.wheelStep)
    case .wheelDown: return turnWheel(by: Self.wheelStep)
    }
  }

  /// Whether the next key belongs to a prompt or to a menu.
  private var isPrompting: Bool {
    prompts.text != nil || prompts.isChoosingOrder || prompts.goTo != nil
      || list.cancelKeys.isArmed && prompts.question == nil
  }

  private mutating func turnWheel(by offset: Int) -> [Effect] {
    guard prompts.question == nil, screen.layout != nil else { return [] }
    begin()
    move(by: offset)
    return []
  }

  /// Prepares an action that corresponds to no key. As before the action of a key, the sentence about the last action
  /// disappears, and a match that the monitor reports later does not move the selection.
  private mutating func begin() {
    screen.notice = nil
    list.searchSteps = nil
  }

  /// Notes the frame that the terminal shows. A click concerns what this frame shows at its place, even if an update has
  /// arrived since then.
  public mutating func noteShown(_ frame: DashboardFrame) {
    screen.seen = settings.usesMouse ? frame.regions : nil
  }

  private mutating func click(row: Int, column: Int) -> [Effect] {
    let seen = screen.seen ?? ScreenRegions(self)
    guard seen.context == keyContext, let target = seen.target(row: row, column: column) else {
      return []
    }
    let isSelected = seen.selected == target && selectedTarget == target
    switch target {
    case .footer(let action): return press(action)
    case .line(.setting(let key)):
      return clickInSetup(isSelected) { $0.select(setting: key, height: $1) }
    case .line(.column(let column)):
      return clickInSetup(isSelected) { $0.select(column: column, height: $1) }
    case .line(let line): return click(line, row: row, isSelected: seen.cursor == row)
    case .run(let id): return click(id, isSelected)
    case .heading(let column): return sort(by: column)
    case .groupHeading(let column): return sortGroups(by: column)
    case .replayBar: return seek(to: column)
    }
  }

  /// Performs an action of the footer, as its key does.
  private mutating func press(_ action: KeyAction) -> [Effect] {
    let context = keyContext
    let binding = (ReplayKeys.bindings + KeyTable.bindings).first {
      $0.action == action && $0.contexts.contains(context)
    }
    guard let input = binding?.inputs.first else { return [] }
    return reduce(input)
  }

  /// Selects a line. If the user has seen it as selected, and it is still selected, opens it as Enter does. If the screen
  /// no longer shows it, does nothing.
  private mutating func click(
    _ line: ScreenRegions.Line, row: Int, isSelected: Bool
  ) -> [Effect] {
    guard let offset = ScreenRegions(self).offset(to: line, row: row) else { return [] }
    if isSelected, offset == 0 { return reduce(.key(.enter)) }
    begin()
    if keyContext == .queue, case .operation(let id) = line {
      // The queue screen may leave out lines, so the number of lines does not determine the operation.
      showInQueueScreen(id)
    } else {
      move(by: offset)
    }
    return []
  }

  /// The selected row of the setup, or the selected run of the timeline. A row of the screen can have several settings,
  /// columns or runs, so that the row of the cursor does not determine the selected one.
  var selectedTarget: ScreenRegions.Target? {
    guard let setup else { return timeline.run.map { .run($0.id) } }
    return .line(
      setup.side == .settings ? .setting(setup.selectedKey) : .column(setup.selectedColumn))
  }

  /// Selects a row of the setup. If it is already selected, changes its value as Space does.
  private mutating func clickInSetup(
    _ isSelected: Bool, select: (inout SetupState, _ height: Int) -> Void
  ) -> [Effect] {
    if isSelected { return reduce(.character(" ")) }
    guard var setup else { return [] }
    begin()
    select(&setup, setupHeight)
    self.setup = setup
    return []
  }

  /// Selects a run of the timeline. If it is already selected, opens it as Enter does.
  private mutating func click(_ id: OperationReport.ID, _ isSelected: Bool) -> [Effect] {
    if isSelected { return reduce(.key(.enter)) }
    begin()
    let height = pageHeight
    timeline.select(run: id, height: height)
    return []
  }

  /// Sorts the list by a column in its natural order. If the list is already sorted by the column, reverses the order.
  private mutating func sort(by column: ColumnPlan.Column) -> [Effect] {
    begin()
    if list.listing.order.column.shownIn == column {
      list.listing.order.isReversed.toggle()
      return []
    }
    let order = SortOrder.Column.allCases.first { $0.shownIn == column }
    guard let order else { return [.bell] }
    list.listing.order = SortOrder(by: order)
    return []
  }

  /// Sorts the groups by a column in its natural order. If they are already sorted by the column, reverses the order.
  private mutating func sortGroups(by column: GroupOrder.Column?) -> [Effect] {
    screen.notice = nil
    guard let column else { return [.bell] }
    if groups?.order.column == column {
      groups?.order.isReversed.toggle()
    } else {
      groups?.order = GroupOrder(column: column)
    }
    return []
  }

  /// Moves the replay to the moment at a column of the bar.
  private mutating func seek(to column: Int) -> [Effect] {
    guard let replay else { return [] }
    let bar = ReplayBar(replay, columns: 0..<screen.size.columns)
    guard let time = bar.time(at: column) else { return [] }
    begin()
    return [.replay(.go(to: time))]
  }
}
