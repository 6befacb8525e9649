// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The views of the dashboard, in the order of the Tab key. A view is shown below the rows with counts and
/// rates.
enum ViewKind: Sendable, CaseIterable {
  case operations, tree, queues, timeline, events

  /// Whether a pane beside the view shows the selected operation, if the screen is wide enough.
  var hasPane: Bool { self == .operations || self == .tree }

  /// Returns the view that is this number of steps away in the order of the Tab key. After the last view, the
  /// order continues with the first view.
  func neighbour(_ steps: Int) -> ViewKind {
    let views = Self.allCases
    guard let index = views.firstIndex(of: self) else { return self }
    return views[((index + steps) % views.count + views.count) % views.count]
  }
}

/// A sentence about the last action. It disappears when the user presses a key, or after 5 s.
struct Notice: Sendable, Equatable {
  /// How long a sentence about the last action stays on the screen.
  static let lifetime = Duration.seconds(5)

  /// The text of a sentence about the last action. The text is unsanitised.
  let text: String
  /// Whether a sentence about the last action is a warning, for example that the action failed.
  let isWarning: Bool
  /// The time at which a sentence about the last action disappears from the screen.
  let expires: MonitorTime

  /// Creates a notice that appears at `now`.
  init(
    _ text: String, isWarning: Bool = false, lifetime: Duration = Self.lifetime, at now: MonitorTime
  ) {
    self.text = text
    self.isWarning = isWarning
    expires = now + lifetime
  }
}

/// The size of the screen, its contents, and the overlays.
struct ScreenState: Sendable {
  /// The dependency trees of the selected operation, for the pane beside the list or for the detail screen.
  struct Pane: Sendable {
    /// The tree of the dependencies; `nil` if the screen does not show it.
    let waitsFor: DependencyTree?
    /// The tree of the dependents; `nil` if the screen does not show it.
    let blocks: DependencyTree?

    /// The rows of both trees.
    var rows: [DependencyTree.Row] { (waitsFor?.rows ?? []) + (blocks?.rows ?? []) }
  }

  /// The last reported size of the terminal.
  var size = Size(columns: 80, rows: 24)
  /// The view that is shown below the rows with counts and rates.
  var view = ViewKind.operations
  var showsMeters = true
  /// Whether the user has not pressed a key. Until the first key, the screen shows a hint about the keys.
  var isBeforeFirstKey = true
  /// Whether a window below the rows shows the whole name of the selected operation.
  var showsName = false
  /// The index of the help's first line on the screen; `nil` while the help is closed.
  var helpTop: Int?
  var notice: Notice?
  var refresh = RefreshRate()
  /// The dependency trees of the selected operation; `nil` if the screen does not show them.
  var pane: Pane?
  /// The parts of the last frame on the terminal that react to the mouse; `nil` if the mouse is off, or before the first
  /// frame.
  var seen: ScreenRegions?

  /// The layout of the view; `nil` if the screen is too small.
  private(set) var layout: Layout?
  /// The layout of the overlay, which is the setup, the picker, the list of warnings, the screen of one operation or
  /// the screen of one queue; `nil` if no overlay is open or the screen is too small.
  private(set) var overlayLayout: Layout?
  private var request: Layout.Request?
  private var overlayRequest: Layout.Request?

  /// Computes the layouts again if the values on which they depend have changed.
  mutating func layOut(_ request: Layout.Request, overlay: Layout.Request?) {
    if request != self.request {
      self.request = request
      layout = Layout(request)
    }
    if overlay != overlayRequest {
      overlayRequest = overlay
      overlayLayout = overlay.flatMap { Layout($0) }
    }
  }
}
