// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The settings and the setup, in which the user changes and saves them.

extension Dashboard {
  /// Shows the view, the order and the filter of the settings. The dashboard calls this function before the first
  /// message.
  mutating func applySettings() {
    list.listing.order = settings.order
    list.listing.filter = settings.filter
    screen.refresh = settings.refresh
    switch settings.view {
    case .operations: break
    case .tree: show(.tree)
    case .queues: show(.queues)
    case .timeline: show(.timeline)
    case .events: show(.events)
    case .kinds: groups = GroupState(by: .kind)
    }
  }

  /// Performs an action of the setup.
  mutating func perform(_ key: KeyAction.Setup) -> [Effect] {
    guard let setup, key != .toggle else {
      self.setup = self.setup == nil ? SetupState(columns: settings.columns) : nil
      return []
    }
    let isColumn = setup.side == .columns
    switch key {
    case .toggle: return []
    case .changeSide: self.setup?.changeSide()
    case .change: return isColumn ? toggleColumn() : change(setup.selectedKey)
    case .moveUp: return moveColumn(by: -1)
    case .moveDown: return moveColumn(by: 1)
    case .increase: return isColumn ? widenColumn(by: 1) : change(setup.selectedKey, by: 1)
    case .decrease: return isColumn ? widenColumn(by: -1) : change(setup.selectedKey, by: -1)
    case .automatic: return isColumn ? setColumnWidth(nil) : [.bell]
    case .save: return saveSettings()
    }
    return []
  }

  /// Moves the selection of the setup by `offset` rows, at most to the first or the last row.
  mutating func moveInSetup(by offset: Int) {
    let height = setupHeight
    setup?.move(by: offset, height: height)
  }

  /// Keeps the selection of the setup valid after the size has changed.
  mutating func settleSetup() {
    guard setup != nil else { return }
    let (height, visible) = (setupHeight, listPlan?.columns ?? [])
    setup?.settle(visible: visible, height: height)
  }

  /// Shows whether the settings were saved.
  mutating func announce(_ result: SettingsResult) {
    switch result {
    case .saved(let path):
      unsavedSettings = []
      show("settings saved in \(path)")
    case .failed(let reason): show("settings not saved: \(reason)", isWarning: true)
    }
  }

  /// Takes over the filter that the user has typed in the setup.
  mutating func noteFilterOfSetup(before: OperationFilter?) {
    guard setup != nil, list.listing.filter != before else { return }
    settings.filter = list.listing.filter
    unsavedSettings.insert(.filter)
  }

  private mutating func saveSettings() -> [Effect] {
    guard !unsavedSettings.isEmpty else {
      show("the setup has no unsaved changes")
      return []
    }
    // The setup shows the values in force. Keys of the list may have changed them after the setup was closed.
    if unsavedSettings.contains(.sort) { settings.order = list.listing.order }
    if unsavedSettings.contains(.filter) { settings.filter = list.listing.filter }
    if unsavedSettings.contains(.refresh) { settings.refresh = screen.refresh }
    return [.saveSettings(settings, unsavedSettings)]
  }

  /// The number of rows on the screen for each side of the setup; at least 1.
  var setupHeight: Int {
    guard let setup, let layout = screen.overlayLayout else { return 1 }
    return max(1, SetupPlaces(layout, side: setup.side).rows.count)
  }

  // MARK: Settings

  /// Changes a setting to the value at this distance in the order of its values; by default as Space does.
  private mutating func change(_ key: DashboardSettings.Key, by step: Int? = nil) -> [Effect] {
    var effects: [Effect] = []
    switch key {
    case .view: settings.view = settings.view.neighbour(step ?? 1)
    case .sort:
      if let step {
        list.moveSortColumn(by: step)
      } else {
        list.listing.order.isReversed.toggle()
      }
      settings.order = list.listing.order
    case .filter:
      openFilterPrompt()
      return []
    case .refresh:
      screen.refresh = screen.refresh.neighbour(step ?? 1)
      settings.refresh = screen.refresh
    case .theme:
      settings.theme = settings.theme.neighbour(step ?? 1)
      effects = [.setTheme(settings.theme)]
    case .mouse:
      settings.usesMouse.toggle()
      effects = [.setMouse(settings.usesMouse)]
    case .bell: settings.ringsBell.toggle()
    case .columns: return [.bell]
    }
    unsavedSettings.insert(key)
    return effects
  }

  // MARK: Columns

  private mutating func toggleColumn() -> [Effect] {
    guard setup?.toggleColumn() == true else {
      show("the list always shows the name", isWarning: true)
      return [.bell]
    }
    return takeColumns()
  }

  private mutating func moveColumn(by offset: Int) -> [Effect] {
    let height = setupHeight
    guard setup?.side == .columns, setup?.moveColumn(by: offset, height: height) == true else {
      return [.bell]
    }
    return takeColumns()
  }

  private mutating func widenColumn(by step: Int) -> [Effect] {
    guard let setup, let column = setup.selectedColumn else { return [.bell] }
    let width = setup.widths[column] ?? listPlan?.ranges[column]?.count ?? Self.usualColumnWidth
    let limits = ColumnSetting.widths
    return setColumnWidth(max(limits.lowerBound, min(width + step, limits.upperBound)))
  }

  /// The width from which `+` and `-` start if the list does not show the column.
  private static let usualColumnWidth = 10

  private mutating func setColumnWidth(_ width: Int?) -> [Effect] {
    setup?.setWidth(width) == true ? takeColumns() : [.bell]
  }

  /// Shows the list with the columns of the chooser.
  private mutating func takeColumns() -> [Effect] {
    settings.columns = setup?.columns
    unsavedSettings.insert(.columns)
    return []
  }

  /// The columns of the list and their positions on the screen, also if another view is below the setup; `nil` if the
  /// screen is too small.
  private var listPlan: ColumnPlan? {
    Layout(Layout.Request(size: screen.size, showsMeters: false)).map {
      OperationTableView(dashboard: self, layout: $0)
        .columns(Glyphs(isUnicode: configuration.isUnicode))
    }
  }
}

extension ColumnPlan {
  /// The visible columns, from left to right.
  fileprivate var columns: [Column] {
    ranges.sorted {
      ($0.value.lowerBound, $0.key.rawValue) < ($1.value.lowerBound, $1.key.rawValue)
    }
    .map(\.key)
  }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
  /// Returns the value that is this number of steps away. After the last value, the order continues with the first one.
  fileprivate func neighbour(_ steps: Int) -> Self {
    let all = Self.allCases
    guard let index = all.firstIndex(of: self) else { return self }
    return all[((index + steps) % all.count + all.count) % all.count]
  }
}

extension RefreshRate {
  /// Returns the rate that is this number of steps away. After the slowest rate, the order continues with the fastest one.
  fileprivate func neighbour(_ steps: Int) -> RefreshRate {
    let names = Self.names
    guard let index = names.firstIndex(of: name) else { return self }
    return RefreshRate(name: names[((index + steps) % names.count + names.count) % names.count])
      ?? self
  }
}
