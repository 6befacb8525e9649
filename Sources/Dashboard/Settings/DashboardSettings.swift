// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The settings of the dashboard that the user can store. The defaults are those of a dashboard without stored
/// settings.
public struct DashboardSettings: Sendable, Equatable {
  /// The settings that can be stored. The raw value is the key in the settings file.
  public enum Key: String, Sendable, CaseIterable {
    /// The key of ``DashboardSettings/view``.
    case view
    /// The key of ``DashboardSettings/order``.
    case sort
    /// The key of ``DashboardSettings/filter``.
    case filter
    /// The key of ``DashboardSettings/refresh``.
    case refresh
    /// The key of ``DashboardSettings/theme``.
    case theme
    /// The key of ``DashboardSettings/usesMouse``.
    case mouse
    /// The key of ``DashboardSettings/ringsBell``.
    case bell
    /// The key of ``DashboardSettings/columns``.
    case columns
  }

  /// The views that a dashboard can show first. The raw value is the name in the settings file.
  public enum View: String, Sendable, CaseIterable {
    /// The list of operations.
    case operations
    /// The tree of all unfinished operations.
    case tree
    /// The view of queues.
    case queues
    /// The timeline.
    case timeline
    /// The log of events.
    case events
    /// The list of operations, grouped by kind.
    case kinds
  }

  /// The view that the dashboard shows first.
  public var view = View.operations
  /// The order of the list.
  public var order = SortOrder()
  /// The filter of the list; `nil` for no filter.
  public var filter: OperationFilter?
  /// The maximum number of frames per second if only updates change the screen.
  public var refresh = RefreshRate()
  /// The colors of the screen.
  public var theme = Theme.automatic
  /// Whether the dashboard reacts to the mouse.
  public var usesMouse = false
  /// Whether the terminal's bell sounds at each new deadlock.
  public var ringsBell = false
  /// The columns of the list, in order, each at most once; `nil` if the dashboard chooses the columns by the width of
  /// the screen. The list always has the name of the operation: if ``ColumnSetting/Column/name`` is missing, it is the
  /// last column.
  public var columns: [ColumnSetting]? {
    didSet {
      guard let columns, !columns.contains(where: { $0.column == .name }) else { return }
      self.columns = columns + [ColumnSetting(.name)]
    }
  }

  /// Creates the default settings.
  public init() {}
}

/// The colors of the screen. The raw value is the name in the settings file.
///
/// A terminal without colors, and a dashboard that is started without colors, draws every theme without colors.
public enum Theme: String, Sendable, CaseIterable {
  /// The terminal's own colors, which can be read on a dark and on a light background.
  case automatic = "auto"
  /// Fixed colors for a dark background, if the terminal has 256 colors; otherwise the terminal's own colors.
  case dark
  /// Fixed colors for a light background, if the terminal has 256 colors; otherwise the terminal's own colors.
  case light
  /// No colors.
  case none
}

extension SortOrder {
  /// The names of all orders that are not reversed, as the settings file and the option `--sort` have them.
  public static var settingNames: [String] { Column.allCases.map(\.rawValue) }

  /// The name of the order in the settings file and in the option `--sort`, such as `time`. The name of a reversed order
  /// begins with a minus sign: `-time`.
  public var settingName: String { (isReversed ? "-" : "") + column.rawValue }

  /// Creates the order with a name, such as `time` or `-time`. The name `age` means `time`, as in filters. Returns `nil`
  /// if there is no such order.
  public init?(settingName: String) {
    let isReversed = settingName.hasPrefix("-")
    let word = isReversed ? String(settingName.dropFirst()) : settingName
    guard let column = word == "age" ? .time : Column(rawValue: word) else { return nil }
    self.init(by: column, isReversed: isReversed)
  }
}
