// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws one frame of the dashboard, and decides which parts of the dashboard the frame contains.
struct DashboardView {
  let dashboard: Dashboard
  let size: Size
  let capabilities: Capabilities
  /// The layout of the view; `nil` if the screen is too small.
  let layout: Layout?
  /// The layout of the overlay, which is the setup, the picker, the list of warnings, the detail screen or the queue
  /// screen; `nil` if none is open.
  let overlayLayout: Layout?

  /// Draws the frame.
  func draw() -> Canvas {
    var canvas = Canvas(size: size, capabilities: capabilities)
    guard let layout else {
      drawTooSmall(on: &canvas)
      return canvas
    }
    if dashboard.screen.helpTop != nil {
      let meterless = Layout(Layout.Request(size: size, showsMeters: false)) ?? layout
      HeaderView(dashboard: dashboard, layout: meterless).draw(on: &canvas)
      HelpView(dashboard: dashboard, layout: meterless).draw(on: &canvas)
      StatusView(dashboard: dashboard, layout: meterless).draw(on: &canvas)
    } else if let overlayLayout {
      HeaderView(dashboard: dashboard, layout: overlayLayout).draw(on: &canvas)
      drawReplayBar(overlayLayout, on: &canvas)
      drawOverlay(overlayLayout, on: &canvas)
      StatusView(dashboard: dashboard, layout: overlayLayout).draw(on: &canvas)
    } else {
      HeaderView(dashboard: dashboard, layout: layout).draw(on: &canvas)
      drawReplayBar(layout, on: &canvas)
      drawView(layout, on: &canvas)
      StatusView(dashboard: dashboard, layout: layout).draw(on: &canvas)
    }
    return canvas
  }

  /// Draws the position in a recording if there is room.
  private func drawReplayBar(_ layout: Layout, on canvas: inout Canvas) {
    guard let row = layout.replayBar, let replay = dashboard.replay else { return }
    ReplayBar(replay, columns: canvas.columns).draw(row: row, on: &canvas)
    canvas.mark(.replayBar, row: row, columns: canvas.columns)
  }

  /// Draws the topmost overlay.
  private func drawOverlay(_ layout: Layout, on canvas: inout Canvas) {
    if let setup = dashboard.setup {
      SetupView(dashboard: dashboard, layout: layout, state: setup).draw(on: &canvas)
    } else if let picker = dashboard.picker {
      PickerView(dashboard: dashboard, layout: layout, picker: picker).draw(on: &canvas)
    } else if let state = dashboard.warningList {
      WarningListView(dashboard: dashboard, layout: layout, state: state).draw(on: &canvas)
    } else if let detail = dashboard.detail {
      if let log = detail.log {
        LogView(dashboard: dashboard, layout: layout, id: detail.id, state: log).draw(on: &canvas)
      } else {
        DetailView(dashboard: dashboard, layout: layout, detail: detail).draw(on: &canvas)
      }
    } else if let state = dashboard.openQueueScreen {
      QueueScreenView(dashboard: dashboard, layout: layout, state: state).draw(on: &canvas)
    }
  }

  /// Draws the view, with the pane and the window with the whole name.
  private func drawView(_ layout: Layout, on canvas: inout Canvas) {
    switch dashboard.screen.view {
    case .operations:
      if let groups = dashboard.groups {
        GroupTableView(dashboard: dashboard, layout: layout, state: groups).draw(on: &canvas)
      } else {
        OperationTableView(dashboard: dashboard, layout: layout).draw(on: &canvas)
      }
    case .tree:
      if let tree = dashboard.tree {
        TreeView(dashboard: dashboard, layout: layout, tree: tree).draw(on: &canvas)
      }
    case .queues: QueueTableView(dashboard: dashboard, layout: layout).draw(on: &canvas)
    case .timeline:
      let hasColors = capabilities.colors != .none && dashboard.settings.theme != .none
      TimelineView(dashboard: dashboard, layout: layout, hasColors: hasColors).draw(on: &canvas)
    case .events: EventView(dashboard: dashboard, layout: layout).draw(on: &canvas)
    }
    if let pane = layout.pane {
      PaneView(dashboard: dashboard, layout: layout, pane: pane).draw(on: &canvas)
    }
    NameView(dashboard: dashboard, layout: layout).draw(on: &canvas)
  }

  private func drawTooSmall(on canvas: inout Canvas) {
    let needed = Layout.minimum
    let lines = [
      "need \(needed.columns)x\(needed.rows)", "have \(size.columns)x\(size.rows)", "q quit",
    ]
    for (row, line) in lines.enumerated() {
      // A space precedes each line of the message if the screen is wide enough for the space.
      let isWide = line.utf8.count < size.columns
      canvas.write(line, row: row, columns: canvas.columns.dropFirst(isWide ? 1 : 0))
    }
  }
}
