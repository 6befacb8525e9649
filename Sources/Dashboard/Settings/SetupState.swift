// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The setup, in which the user changes and saves settings. It has two sides: the settings with one value, and the
/// chooser of columns.
struct SetupState: Sendable, Equatable {
  /// A side of the setup.
  enum Side: Sendable {
    case settings, columns
  }

  /// The settings with one value, in the order of the rows.
  static let keys = DashboardSettings.Key.allCases.filter { $0 != .columns }
  /// The number of rows of the chooser: the row of the automatic choice, and a row for each column.
  static let columnRowCount = 1 + ColumnSetting.Column.allCases.count

  /// The side whose row is selected.
  private(set) var side = Side.settings
  /// The rows of the settings.
  private(set) var setting = SelectedLine()
  /// The rows of the chooser.
  private(set) var column = SelectedLine()
  /// All columns in the order of the chooser. Columns that the list does not show keep their places.
  private(set) var order = ColumnSetting.Column.allCases
  /// The columns that the list shows.
  private(set) var shown: Set<ColumnSetting.Column> = []
  /// The widths that the user has chosen.
  private(set) var widths: [ColumnSetting.Column: Int] = [:]
  /// Whether the dashboard chooses the columns by the width of the screen.
  private(set) var isAutomatic = true

  /// Creates the setup for the columns of the settings.
  init(columns: [ColumnSetting]?) {
    guard let columns else { return }
    isAutomatic = false
    arrange(columns.map(\.column))
    for column in columns { widths[column.column] = column.width }
  }

  /// The selected setting.
  var selectedKey: DashboardSettings.Key { Self.keys[setting.number] }

  /// The selected column; `nil` if the row of the automatic choice is selected.
  var selectedColumn: ColumnSetting.Column? { column.number == 0 ? nil : order[column.number - 1] }

  /// The columns of the settings; `nil` if the dashboard chooses them.
  var columns: [ColumnSetting]? {
    isAutomatic ? nil : listed
  }

  /// The columns that the list shows, in order.
  var listed: [ColumnSetting] {
    order.filter { shown.contains($0) }.map { ColumnSetting($0, width: widths[$0]) }
  }

  /// Selects the other side.
  mutating func changeSide() { side = side == .settings ? .columns : .settings }

  /// Selects a setting. Does nothing if it has no row.
  mutating func select(setting key: DashboardSettings.Key, height: Int) {
    guard let index = Self.keys.firstIndex(of: key) else { return }
    side = .settings
    setting.select(index, of: Self.keys.count, height: height)
  }

  /// Selects a column; `nil` for the row of the automatic choice.
  mutating func select(column selected: ColumnSetting.Column?, height: Int) {
    side = .columns
    column.select(row(of: selected), of: Self.columnRowCount, height: height)
  }

  /// Returns the row of a column in the chooser; `nil` stands for the automatic choice.
  private func row(of column: ColumnSetting.Column?) -> Int {
    column.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
  }

  /// Moves the selection by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, height: Int) {
    switch side {
    case .settings:
      setting.select(setting.index(movedBy: offset), of: Self.keys.count, height: height)
    case .columns:
      column.select(column.index(movedBy: offset), of: Self.columnRowCount, height: height)
    }
  }

  /// Keeps the selected rows on a screen of this height. If the choice of columns is automatic, takes over the columns
  /// that the list shows. The selected column stays selected.
  mutating func settle(visible: [ColumnSetting.Column], height: Int) {
    setting.select(setting.number, of: Self.keys.count, height: height)
    let selected = selectedColumn
    if isAutomatic { arrange(visible) }
    column.select(row(of: selected), of: Self.columnRowCount, height: height)
  }

  /// Shows or hides the selected column, or switches the automatic choice on or off. Returns `false` if the list must
  /// show the column.
  mutating func toggleColumn() -> Bool {
    guard let selectedColumn else {
      isAutomatic.toggle()
      if isAutomatic { widths = [:] }
      return true
    }
    guard selectedColumn != .name else { return false }
    isAutomatic = false
    shown.formSymmetricDifference([selectedColumn])
    return true
  }

  /// Moves the selected column by one row. Returns `false` if it cannot be moved.
  mutating func moveColumn(by offset: Int, height: Int) -> Bool {
    let index = column.number - 1
    guard order.indices.contains(index), order.indices.contains(index + offset) else {
      return false
    }
    isAutomatic = false
    order.swapAt(index, index + offset)
    column.select(column.number + offset, of: Self.columnRowCount, height: height)
    return true
  }

  /// Sets the width of the selected column; `nil` for the automatic width. Returns `false` if nothing changes.
  mutating func setWidth(_ width: Int?) -> Bool {
    guard let selectedColumn, width.map({ ColumnSetting.widths.contains($0) }) != false,
      widths[selectedColumn] != width
    else { return false }
    isAutomatic = false
    widths[selectedColumn] = width
    return true
  }

  /// Shows these columns, in this order. The other columns follow.
  private mutating func arrange(_ columns: [ColumnSetting.Column]) {
    shown = Set(columns)
    order = columns + ColumnSetting.Column.allCases.filter { !shown.contains($0) }
  }
}

/// The positions of the parts of the setup on the screen.
struct SetupPlaces: Equatable {
  /// The minimum width of a screen that shows both sides.
  private static let bothSidesThreshold = 70
  /// The number of cells of the settings on a screen of medium width.
  private static let settingsWidth = 46
  /// The number of rows of the smallest preview: a rule, the headings, and a row of the list.
  private static let fewestPreviewRows = 3

  /// The rows of both sides. The titles of the sides are in the row of the layout's headings.
  let rows: Range<Int>
  /// The screen columns of the settings; `nil` if only the chooser has room.
  let settings: Range<Int>?
  /// The screen columns of the chooser; `nil` if only the settings have room.
  let chooser: Range<Int>?
  /// The row of the rule above the preview of the list; `nil` if the preview has no room.
  let previewRule: Int?

  /// Computes the positions. If the screen is narrow, only the side with the selected row has room.
  init(_ layout: Layout, side: SetupState.Side) {
    let height = min(SetupState.columnRowCount, layout.body.count)
    rows = layout.body.prefix(height)
    let hasPreview = layout.body.count - height >= Self.fewestPreviewRows
    previewRule = hasPreview ? rows.upperBound : nil
    let columns = layout.table
    if columns.count >= Self.bothSidesThreshold {
      // The chooser gets more room than the settings, because it has a sentence about each column.
      let width = min((columns.count + 1) / 2, max(Self.settingsWidth, columns.count / 3))
      let middle = columns.lowerBound + width
      settings = columns.lowerBound..<middle
      chooser = middle..<columns.upperBound
    } else {
      settings = side == .settings ? columns : nil
      chooser = side == .columns ? columns : nil
    }
  }
}
