// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The dashboard of operation queues as a value. It receives messages, returns effects that the program has
/// to perform, and draws the screen.
///
/// The dashboard uses no terminal, no clock and no thread. Selection and questions contain operation ids,
/// never rows. The cost of drawing depends on the number of rows on screen, and the cost of an update on the
/// number of changes in the update. Neither cost depends on the number of operations.
public struct Dashboard: Sendable {
  let configuration: Configuration
  /// The settings that are in force.
  var settings: DashboardSettings
  /// The sentence about mistakes in the stored settings that the dashboard shows with the first time; `nil` if there
  /// is none, or after it was shown.
  private var settingsRemark: String?

  var connection = ConnectionState()
  /// The picker; `nil` while the picker is closed.
  var picker: PickerState?
  /// The current time. It never decreases.
  var now = MonitorTime(nanoseconds: 0)
  /// The state of the monitored process according to the messages that have arrived.
  var live = MonitoredState()
  /// The position of the watched recording; `nil` if the source is not a recording.
  var replay: ReplayStatus?
  /// The state that the dashboard shows while the display is paused; otherwise `nil`.
  var paused: Paused?

  var screen = ScreenState()
  var list = OperationListState()
  /// The state of the tree view, which is kept while another view is shown; `nil` until the user first opens
  /// the tree.
  var tree: TreeState?
  var queues = QueueSelection()
  var queueRequests = QueueRequests()
  var timeline = TimelineState()
  var events = EventSelection()
  /// The state of the list of warnings; `nil` while the list is closed.
  var warningList: WarningListState?
  /// The screen of one queue; `nil` while it is closed. It belongs to the view of queues.
  var queueScreen: QueueScreenState?
  /// The operations that the dashboard requests for the view of queues and for the queue screen.
  var queueRequest = QueueRequest()
  /// The queues whose run orders the dashboard requests for the rows of the list.
  var positionRequest = PositionRequest()
  /// The groups that the list shows instead of operations; `nil` if the list is not grouped.
  var groups: GroupState?
  /// The setup; `nil` while it is closed.
  var setup: SetupState?
  /// The settings that the user has changed in the setup and has not saved.
  var unsavedSettings: Set<DashboardSettings.Key> = []
  /// The detail screen of one operation; `nil` while the view itself is shown.
  var detail: DetailState?
  /// The tagged operations. Commands apply to them or, if no operation is tagged, to the selected operation.
  var tags = Tags()
  var prompts = PromptState()
  var deadlockBell = DeadlockBell()

  /// The state and the time that the dashboard shows while the display is paused.
  struct Paused: Sendable {
    let monitored: MonitoredState
    let time: MonitorTime
  }

  /// Creates a dashboard without any data.
  public init(configuration: Configuration) {
    self.configuration = configuration
    settings = configuration.settings
    settingsRemark = configuration.settingsRemark.isEmpty ? nil : configuration.settingsRemark
    connection.source = configuration.source
    if connection.source == nil { openPicker() }
    applySettings()
    layOut()
  }

  /// Processes one message, and returns the effects that the program has to perform, in this order.
  ///
  /// A message that is late or repeated, or that concerns an unknown operation, does no harm.
  public mutating func reduce(_ message: Message) -> [Effect] {
    var effects = reduceWithoutInterest(message) + lookIfDue()
    layOut()
    effects += outputReads(after: message, effects)
    // If the process does not answer, the dashboard sends its interest (the list of data that it needs) after
    // the next greeting.
    guard !isUnanswered else { return effects }
    let wanted = wantedInterest
    guard wanted != connection.interest || connection.mustWatchAgain else { return effects }
    if wanted.filter != connection.interest.filter { live.forgetEvents() }
    connection.interest = wanted
    connection.mustWatchAgain = false
    return effects + [.watch(wanted)]
  }

  private mutating func reduceWithoutInterest(_ message: Message) -> [Effect] {
    switch message {
    case .tick(let time):
      now = max(now, time)
      return reduceTick()
    case .resized(let size):
      screen.size = size
      settle()
      return []
    case .monitor(let message):
      return reduce(message) + bellForDeadlocks(after: message)
    case .input(let input):
      if isAction(input) {
        list.noteKey()
        screen.isBeforeFirstKey = false
      }
      let effects = reduce(input)
      settle()
      return effects
    case .exported(let result):
      announce(result)
      return []
    case .found(let choices):
      picker?.take(choices, watched: connection.source, at: now)
      return []
    case .findFailed(let reason):
      noteFindingFailed(reason)
      return []
    case .opened:
      connection.isOpened = true
      return []
    case .openFailed(let reason):
      noteOpeningFailed(reason)
      return []
    case .replay(let status):
      reduce(status)
      return []
    case .jobsEnded(let haveEnded):
      connection.haveJobsEnded = haveEnded
      return []
    case .settingsSaved(let result):
      announce(result)
      return []
    case .recordingFailed(let reason):
      show(reason, isWarning: true)
      return []
    case .output(let page):
      take(page)
      return []
    case .outputSearched(let result):
      return take(result)
    }
  }

  /// Draws the dashboard as a grid of cells for a terminal of this size.
  ///
  /// The grid has exactly the given size. The size is usually that of the last ``Message/resized(_:)``, but
  /// any size can be drawn.
  public func view(size: Size, capabilities: Capabilities) -> Grid {
    frame(size: size, capabilities: capabilities).grid
  }

  /// Draws the dashboard as ``view(size:capabilities:)`` does. The frame also has the parts that react to the mouse.
  public func frame(size: Size, capabilities: Capabilities) -> DashboardFrame {
    let isOwn = size == screen.size
    let canvas = DashboardView(
      dashboard: self, size: size, capabilities: capabilities,
      layout: isOwn ? screen.layout : Layout(layoutRequest(for: size)),
      overlayLayout: isOwn ? screen.overlayLayout : overlayRequest(for: size).flatMap { Layout($0) }
    ).draw()
    var regions = canvas.regions
    regions.context = keyContext
    regions.selected = selectedTarget
    return DashboardFrame(grid: canvas.grid, regions: regions)
  }

  /// The minimum time between two frames if only updates from the monitor have changed the screen. The
  /// default is a thirtieth of a second, and the maximum is 10 s. If a key or a new size has changed the
  /// screen, the program must draw the new frame immediately.
  public var refreshInterval: Duration { screen.refresh.interval }

  /// Returns the next moment at which the passing of time changes the screen; `nil` if there is no such
  /// moment. The program sends a ``Message/tick(_:)`` at this moment.
  ///
  /// The ages on the screen change once a second, at a full second of the time of day, and only while a row
  /// with an age is on screen. With a lower refresh rate they change less often.
  public func nextTick(after now: MonitorTime) -> MonitorTime? {
    let news = [
      showsAges || replay?.isPlaying == true ? nextSecond(after: now) : nil,
      nextHistoryTick(after: now),
    ]
    let drawnNews = news.compactMap { $0 }.min().map { moment in
      screen.refresh.isDefault ? moment : max(moment, now + screen.refresh.interval)
    }
    let moments = [
      screen.notice?.expires, prompts.goTo?.expires, picker?.nextLook, nextRowMove,
      nextQueueRequest, nextPositionRequest, drawnNews,
    ].compactMap { $0 }
    return moments.min().map { max($0, now) }
  }

  /// The state that the screen shows: the present state or, if the display is paused, the state at the pause.
  var shown: MonitoredState { paused?.monitored ?? live }

  /// The moment up to which the ages on the screen are counted. It does not advance while the display is
  /// paused or while no updates arrive.
  var shownTime: MonitorTime {
    if let paused { return paused.time }
    if let replay { return replay.time }
    return live.isSilent ? live.lastUpdate ?? now : now
  }

  /// The next time at which the row of a cancelled operation moves; `nil` if no row has to move. No row moves while the
  /// display is paused.
  private var nextRowMove: MonitorTime? { paused == nil ? list.cancelledRows.nextMove : nil }

  /// Returns whether an input is an action of the user. Pasted text is none, because it is never interpreted as
  /// commands.
  private func isAction(_ input: Input) -> Bool {
    switch input {
    case .paste: false
    case .mouse: settings.usesMouse
    case .character, .control, .alt, .key, .function: true
    }
  }

  private mutating func reduceTick() -> [Effect] {
    if !live.isSilent, replay == nil { live.advance(to: now) }
    let mustMoveRows = nextRowMove.map { $0 <= now } ?? false
    let mustSortGroups = shownGroups?.order.column == .rate
    if screen.view == .timeline || mustMoveRows || mustSortGroups { settle() }
    if let moment = nextQueueRequest, moment <= now { settleQueueRequest() }
    if let moment = nextPositionRequest, moment <= now { settlePositionRequest() }
    if let notice = screen.notice, notice.expires <= now { screen.notice = nil }
    if let remark = settingsRemark {
      settingsRemark = nil
      screen.notice = Notice(remark, isWarning: true, lifetime: .seconds(20), at: now)
    }
    if let goTo = prompts.goTo, goTo.expires <= now {
      finishGoTo()
      settle()
    }
    return []
  }

  func nextSecond(after now: MonitorTime) -> MonitorTime {
    let second: Int64 = 1_000_000_000
    var phase = now.nanoseconds
    if let hello = live.hello {
      let fraction = hello.anchorSecondsSince1970.truncatingRemainder(dividingBy: 1)
      phase = now.nanoseconds - hello.anchor.nanoseconds + Int64(fraction * Double(second))
    }
    let sinceSecond = (phase % second + second) % second
    return MonitorTime(nanoseconds: now.nanoseconds + second - sinceSecond)
  }

  private var showsAges: Bool {
    guard paused == nil, !live.isSilent, screen.helpTop == nil, picker == nil, replay == nil else {
      return false
    }
    guard screen.layout != nil, setup == nil else { return false }
    if warningList != nil { return !shown.warnings.isEmpty }
    if let selected, let report = live.operations[selected], !report.state.isOver { return true }
    if detail == nil {
      if openQueueScreen != nil { return queueScreenShowsAges }
      if shownGroups != nil { return false }
      switch screen.view {
      case .operations: if visibleKeys.contains(where: { !$0.isOver }) { return true }
      case .tree: return visibleTreeRows.contains { ages($0) }
      case .queues: return queueScreenShowsAges
      case .timeline, .events: return false
      }
    }
    return screen.pane.map { $0.rows.contains { ages($0) } } ?? false
  }

  private func ages(_ row: DependencyTree.Row) -> Bool {
    switch row.id {
    case .node(let id), .reference(let id, _), .attempt(_, let id):
      live.operations.state(of: id)?.isOver == false
    case .group, .queue, .folded, .unknown, .cut: false
    }
  }
}
