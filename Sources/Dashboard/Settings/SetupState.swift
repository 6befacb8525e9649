// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Availability {
  /// Whether the setup exists.
  static let setup = false
}

/// The setup, in which the user changes and saves settings.
struct SetupState: Sendable, Equatable {}

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
  mutating func perform(_ key: KeyAction.Setup) -> [Effect] { [.bell] }

  /// Moves the selection of the setup by `offset` rows, at most to the first or the last row.
  mutating func moveInSetup(by offset: Int) {}

  /// Keeps the selection of the setup valid after the size has changed.
  mutating func settleSetup() {}

  /// Shows whether the settings were saved.
  mutating func announce(_ result: SettingsResult) {
    switch result {
    case .saved(let path): show("saved in \(path)")
    case .failed(let reason): show("not saved: \(reason)", isWarning: true)
    }
  }
}

/// Draws the setup.
struct SetupView {
  let dashboard: Dashboard
  let layout: Layout
  let state: SetupState

  func draw(on canvas: inout Canvas) {}
}
