// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The views below the meters, in the order of the Tab key.
enum ViewKind: Sendable, CaseIterable {
  case operations, tree, queues, timeline, events

  /// Whether the selected operation has a pane beside the view, if there is room.
  var hasPane: Bool { self == .operations || self == .tree }

  /// Returns the view at this distance, wrapping around at the end.
  func neighbour(_ steps: Int) -> ViewKind {
    let views = Self.allCases
    guard let index = views.firstIndex(of: self) else { return self }
    return views[((index + steps) % views.count + views.count) % views.count]
  }
}

/// One sentence about the last action. It disappears with the next key or after 5 s.
struct Notice: Sendable, Equatable {
  /// How long it stays.
  static let lifetime = Duration.seconds(5)

  /// The sentence, unsanitised.
  let text: String
  /// Whether an action failed.
  let isWarning: Bool
  /// When it disappears.
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
  /// The trees beside the list.
  struct Pane: Sendable {
    let waitsFor: DependencyTree
    let blocks: DependencyTree
  }

  /// The size that was reported last.
  var size = Size(columns: 80, rows: 24)
  /// The view below the meters.
  var view = ViewKind.operations
  var showsMeters = true
  /// Whether a window below the rows shows the whole name of the selected operation.
  var showsName = false
  /// The first line of the help on screen; `nil` while it is closed.
  var helpTop: Int?
  var notice: Notice?
  var refresh = RefreshRate()
  /// The contents of the side pane; `nil` if there is none.
  var pane: Pane?

  /// The layout of the view; `nil` if the screen is too small.
  private(set) var layout: Layout?
  /// The layout of the overlay: the picker, or the screen of one operation. `nil` if there is no overlay, or
  /// no room.
  private(set) var overlayLayout: Layout?
  private var request: Layout.Request?
  private var overlayRequest: Layout.Request?

  /// Computes the layouts again if one of their inputs has changed since the last time.
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
