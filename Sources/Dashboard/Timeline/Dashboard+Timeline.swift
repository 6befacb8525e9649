// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The views of past events: events and timeline.
extension Dashboard {
  /// Performs an action of the timeline.
  mutating func perform(_ key: KeyAction.Timeline) -> [Effect] {
    switch key {
    case .zoomIn: zoomTimeline(by: -1)
    case .zoomOut: zoomTimeline(by: 1)
    case .previousRun: selectRun(by: -1)
    case .nextRun: selectRun(by: 1)
    }
  }

  /// Returns the scale of the timeline, which assigns moments to cells.
  func timelineScale(columns: Int) -> TimelineScale {
    TimelineScale(
      window: timeline.window, end: shownTime, cells: TimelineView.cells(columns: columns))
  }

  /// The operation of the selected event.
  var selectedEvent: OperationEvent? {
    guard let number = events.number, case .event(let event) = shown.events[number] else {
      return nil
    }
    return event
  }

  /// Whether the newest event is selected, so that each new event changes the selected operation.
  var followsEvents: Bool {
    detail == nil && warningList == nil && screen.view == .events && events.follows
  }

  /// Returns whether an action concerns the operation of the selected event, or of the queue screen. Such an action ends
  /// the following of the newest events or of the next operation, so that the next action concerns the same operation.
  func concernsEvent(_ action: KeyAction) -> Bool {
    switch action {
    case .command, .queue, .tree, .detail, .log, .screen(.toggleName), .screen(.copy): true
    case .program, .screen, .movement, .list, .timeline, .picker, .queueScreen, .groups, .setup,
      .warnings, .answer, .replay:
      false
    }
  }

  /// Increases or decreases the duration that the timeline shows.
  mutating func zoomTimeline(by step: Int) -> [Effect] { timeline.zoom(by: step) ? [] : [.bell] }

  /// Returns the next moment at which the passing of time changes the graph or the timeline; `nil` if there
  /// is no such moment.
  func nextHistoryTick(after now: MonitorTime) -> MonitorTime? {
    guard paused == nil, !live.isSilent, screen.helpTop == nil, picker == nil, replay == nil,
      let layout = screen.layout
    else { return nil }
    var moments: [MonitorTime] = []
    if let seconds = layout.rateSeconds, live.rates.isMoving(within: seconds) {
      moments.append(nextSecond(after: now))
    }
    if queueHistoryMoves || groupHistoryMoves { moments.append(nextSecond(after: now)) }
    if screen.view == .timeline, timeline.moves {
      let step = timelineScale(columns: screen.size.columns).nextStep(after: now)
      moments.append(max(step, now + Self.shortestTimelineStep))
    }
    return moments.min()
  }

  /// The minimum time between two movements of the timeline. The user could not read a timeline that moves
  /// more often.
  private static let shortestTimelineStep = Duration.milliseconds(100)
}
