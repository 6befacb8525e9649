// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What can be shown below the meters, in the order in which Tab goes through it.
enum ViewKind: Sendable, CaseIterable {
  case operations, tree, queues, timeline, events

  /// Whether the selected operation has a pane beside it, if there is room.
  var hasPane: Bool { self == .operations || self == .tree }

  /// The view so many steps further, around the end.
  func neighbour(_ steps: Int) -> ViewKind {
    let views = Self.allCases
    guard let index = views.firstIndex(of: self) else { return self }
    return views[((index + steps) % views.count + views.count) % views.count]
  }
}

/// One sentence about what just happened; it stays until the next key or for 5 s.
struct Notice: Sendable, Equatable {
  /// How long it stays.
  static let lifetime = Duration.seconds(5)

  /// The sentence, unsanitised.
  let text: String
  /// Whether something did not go as asked.
  let isWarning: Bool
  /// When it goes away.
  let expires: MonitorTime

  /// Creates a notice that begins to live at `now`.
  init(
    _ text: String, isWarning: Bool = false, lifetime: Duration = Self.lifetime, at now: MonitorTime
  ) {
    self.text = text
    self.isWarning = isWarning
    expires = now + lifetime
  }
}

/// How large the screen is, what it shows, and what lies over that.
struct ScreenState: Sendable {
  /// The trees beside the list.
  struct Pane: Sendable {
    let waitsFor: DependencyTree
    let blocks: DependencyTree
  }

  /// The size that was reported last.
  var size = Size(columns: 80, rows: 24)
  /// What is shown below the meters.
  var view = ViewKind.operations
  var showsMeters = true
  /// Whether a window below the rows holds the whole name of the selected operation.
  var showsName = false
  /// The first line of the help on screen; `nil` while it is closed.
  var helpTop: Int?
  var notice: Notice?
  var refresh = RefreshRate()
  /// What the side pane draws; `nil` if there is none.
  var pane: Pane?

  /// Where things are in the view; `nil` if the screen is too small for anything.
  private(set) var layout: Layout?
  /// Where things are in what lies over the view: the list of what can be watched, or the screen of
  /// one operation. `nil` if nothing does, or there is no room.
  private(set) var overlayLayout: Layout?
  private var request: Layout.Request?
  private var overlayRequest: Layout.Request?

  /// Lays the screen out, if anything that this depends on has changed since the last time.
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
