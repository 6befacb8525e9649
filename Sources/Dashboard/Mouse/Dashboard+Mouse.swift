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
    screen.notice = nil
    move(by: offset)
    return []
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
    switch target {
    case .footer(let action): return press(action)
    case .line(.setting(let key)):
      return SetupState.keys.firstIndex(of: key).map { clickInSetup($0, on: .settings) } ?? []
    case .line(.column(let index)): return clickInSetup(index, on: .columns)
    case .line(let line): return click(line, row: row, isSelected: seen.cursor == row)
    case .run(let id): return click(id)
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
    screen.notice = nil
    move(by: offset)
    return []
  }

  /// Selects a run of the timeline. If it is already selected, opens it as Enter does.
  private mutating func click(_ id: OperationReport.ID) -> [Effect] {
    guard timeline.run?.id != id else { return reduce(.key(.enter)) }
    screen.notice = nil
    let height = pageHeight
    timeline.select(run: id, height: height)
    return []
  }

  /// Sorts the list by a column. If the list is already sorted by the column, reverses the order.
  private mutating func sort(by column: ColumnPlan.Column) -> [Effect] {
    screen.notice = nil
    if list.listing.order.column.shownIn == column {
      list.listing.order.isReversed.toggle()
      return []
    }
    let order = SortOrder.Column.allCases.first { $0.shownIn == column }
    guard let order else { return [.bell] }
    list.listing.order.column = order
    return []
  }

  /// Sorts the groups by a column. If they are already sorted by the column, reverses the order.
  private mutating func sortGroups(by column: GroupOrder.Column?) -> [Effect] {
    screen.notice = nil
    guard let column else { return [.bell] }
    if groups?.order.column == column {
      groups?.order.isReversed.toggle()
    } else {
      groups?.order.column = column
    }
    return []
  }

  /// Moves the replay to the moment at a column of the bar.
  private mutating func seek(to column: Int) -> [Effect] {
    guard let replay else { return [] }
    let bar = ReplayBar(replay, columns: 0..<screen.size.columns)
    guard let time = bar.time(at: column) else { return [] }
    screen.notice = nil
    return [.replay(.go(to: time))]
  }
}
