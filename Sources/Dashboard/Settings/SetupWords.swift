// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension DashboardSettings.Key {
  /// A phrase about the setting, without its name.
  var meaning: String {
    switch self {
    case .view: "the view that a dashboard shows first"
    case .sort: "the order of the list; Space reverses it"
    case .filter: "the operations of the list; Space edits the filter"
    case .refresh: "the largest number of frames per second; keys act at once"
    case .theme: "the colors of the screen"
    case .mouse: "whether clicks and the wheel have an effect"
    case .bell: "whether the terminal's bell sounds at each new deadlock"
    case .columns: "the columns of the list"
    }
  }

  /// A sentence about the values that the settings file can have for the key.
  var values: String {
    switch self {
    case .view: Self.list(DashboardSettings.View.allCases.map(\.rawValue))
    case .sort:
      Self.list(SortOrder.settingNames) + " A minus sign reverses the order, such as -time."
    case .filter: "The syntax is that of the filter of the list, such as state:exec queue:io."
    case .refresh: Self.list(RefreshRate.names)
    case .theme:
      Self.list(Theme.allCases.map(\.rawValue))
        + " dark and light have fixed colors on a terminal with 256 colors."
    case .mouse: "true or false. Shift leaves the mouse to the terminal."
    case .bell: "true or false."
    case .columns: Self.list(ColumnSetting.Column.allCases.map(\.rawValue))
    }
  }

  private static func list(_ names: [String]) -> String {
    "Values: \(names.joined(separator: ", "))."
  }
}

extension ColumnSetting.Column {
  /// A phrase about the contents of the column.
  var meaning: String {
    switch self {
    case .key: "the letters that cancel the operation after X"
    case .id: "the number of the operation"
    case .process: "the process, if several are watched"
    case .state: "executing, ready, waiting, and so on"
    case .queue: "the queue to which the operation was added"
    case .priority: "the priority in its queue"
    case .quality: "the quality of service"
    case .position: "the position among the ready operations"
    case .dependencies: "the numbers of finished and of all dependencies"
    case .time: "the time in the state, or the run time"
    case .dependents: "the number of operations that depend on it"
    case .kind: "what the operation does; by default its class"
    case .progress: "what the code has reported as completed"
    case .name: "the name, which is always shown"
    case .error: "the error, or the reason for the cancellation"
    }
  }
}

extension Dashboard {
  /// The value of a setting that is in force, for the setup. A typed filter is unsanitised.
  func words(for key: DashboardSettings.Key) -> String {
    switch key {
    case .view: settings.view.rawValue
    case .sort: list.listing.order.words
    case .filter: list.listing.filter?.text ?? "none"
    case .refresh: screen.refresh.words
    case .theme: settings.theme.rawValue
    case .mouse: settings.usesMouse ? "on" : "off"
    case .bell: settings.ringsBell ? "on" : "off"
    case .columns: settings.columns == nil ? "automatic" : "chosen"
    }
  }
}
