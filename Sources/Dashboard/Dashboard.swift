// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The dashboard of operation queues as a value: messages go in, effects and pictures come out.
///
/// It knows no terminal, no clock and no thread. Selection and questions hold operation ids, never
/// rows. Drawing costs as much as there are rows on screen, taking in an update as much as has
/// changed, whatever the number of operations.
public struct Dashboard: Sendable {
  let configuration: Configuration

  /// What is watched; `nil` where the user has yet to choose.
  var source: Source?
  /// What the program was asked to watch instead; `nil` where it has answered.
  var opening: Source?
  /// What can be watched, to choose from; `nil` while that is closed.
  var picker: PickerState?
  /// When what was watched ended; `nil` where it has not.
  var endedAt: MonitorTime?
  /// The last size heard of.
  var size = Size(columns: 80, rows: 24)
  /// The current time; never goes back.
  var now = MonitorTime(nanoseconds: 0)
  /// What is known, up to the last message.
  var live = Workload()
  /// Where the recording is that is watched; `nil` where none is.
  var replay: ReplayStatus?
  /// What is shown instead while the display is paused.
  var paused: Paused?

  /// Which operations are listed, and in which order.
  var listing = Listing()
  /// The list, as of the last message.
  var rows = ListRows()
  var list = ListSelection()
  /// What is shown below the meters.
  var view = ViewKind.operations
  /// The tree view, kept while another view is shown; `nil` before it was first opened.
  var tree: TreeState?
  var queues = QueueSelection()
  var timeline = TimelineState()
  var events = EventSelection()
  /// What is shown over the view of one operation; `nil` while the view itself is.
  var detail: DetailState?
  /// The first line of the help on screen; `nil` while it is closed.
  var helpTop: Int?
  var question: Question?
  var goTo: GoToPrompt?
  /// The line of text that is being typed; `nil` where none is.
  var prompt: TextPrompt?
  /// Whether a letter chooses what to sort by.
  var isChoosingOrder = false
  /// What `n` looks for.
  var search: String?
  /// Where the search that is being typed began.
  var searchStart: OperationReport.ID?
  /// What commands are about; the selected operation where it is empty.
  var tags: Set<OperationReport.ID> = []
  /// How many cells of the operations' names are scrolled out at the left.
  var titleOffset = 0
  var cancelKeys = CancelKeys()
  var notice: Notice?
  var showsMeters = true
  /// Whether a window below the rows holds the whole name of the selected operation.
  var showsName = false
  var refresh = RefreshRate()
  /// What the side pane draws; `nil` where there is none.
  var pane: Pane?
  /// What the monitor was last told that the dashboard wants.
  var interest = Interest()
  /// Whether it has to be told in any case: it was told of nothing yet.
  var mustWatchAnew = false
  /// From when on tags of what the monitor has not told of are dropped; `nil` where none are.
  var tagsConfirmedBy: MonitorTime?

  /// A picture that is kept while the display is paused.
  struct Paused: Sendable {
    let workload: Workload
    let time: MonitorTime
  }

  /// The trees beside the list.
  struct Pane: Sendable {
    let waitsFor: DependencyTree
    let blocks: DependencyTree
  }

  /// Creates a dashboard that knows nothing yet.
  public init(configuration: Configuration) {
    self.configuration = configuration
    source = configuration.source
    if source == nil { openPicker() }
  }

  /// Takes in one message, and says what the program has to do, in this order.
  ///
  /// A message that comes late, twice or for something unknown is harmless.
  public mutating func reduce(_ message: Message) -> [Effect] {
    let effects = reduceWithoutInterest(message) + lookIfDue()
    // Who greets next is told.
    guard !isUnanswered else { return effects }
    let wanted = wantedInterest
    guard wanted != interest || mustWatchAnew else { return effects }
    if wanted.filter != interest.filter { live.forgetEvents() }
    interest = wanted
    mustWatchAnew = false
    return effects + [.watch(wanted)]
  }

  private mutating func reduceWithoutInterest(_ message: Message) -> [Effect] {
    switch message {
    case .tick(let time):
      now = max(now, time)
      return reduceTick()
    case .resized(let size):
      self.size = size
      settle()
      return []
    case .monitor(let message):
      reduce(message)
      return []
    case .input(let input):
      let effects = reduce(input)
      settle()
      return effects
    case .exported(let result):
      announce(result)
      return []
    case .found(let choices):
      picker?.take(choices, watched: source, at: now)
      return []
    case .openFailed(let reason):
      noteOpeningFailed(reason)
      return []
    case .replay(let status):
      reduce(status)
      return []
    case .recordingFailed(let reason):
      show(reason, isWarning: true)
      return []
    }
  }

  /// Draws the picture for a terminal of this size.
  ///
  /// The grid is exactly of the given size. Usually that is the size of the last
  /// ``Message/resized(_:)``; any other one is drawn as well.
  public func view(size: Size, capabilities: Capabilities) -> Grid {
    Frame(dashboard: self, size: size, capabilities: capabilities).draw()
  }

  /// The shortest time between two pictures that only news from the monitor call for: a thirtieth of a
  /// second by default, and at most 10 s. What a key or another size changes is to be drawn at once.
  public var refreshInterval: Duration { refresh.interval }

  /// The next moment at which the picture changes without any message but a
  /// ``Message/tick(_:)``; `nil` when nothing will.
  ///
  /// Ages tick once a second, on the full second of the time of day, and only while a row that
  /// ages is on screen; rarer where news are drawn rarer.
  public func nextTick(after now: MonitorTime) -> MonitorTime? {
    let news = [
      showsAges || replay?.isPlaying == true ? nextSecond(after: now) : nil,
      nextHistoryTick(after: now),
    ]
    let drawnNews = news.compactMap { $0 }.min().map { moment in
      refresh.isDefault ? moment : max(moment, now + refresh.interval)
    }
    let moments = [notice?.expires, goTo?.expires, picker?.nextLook, drawnNews].compactMap { $0 }
    return moments.min().map { max($0, now) }
  }

  /// What is on screen: the live workload, or the picture of the moment when it was paused.
  var shown: Workload { paused?.workload ?? live }

  /// The time for which ages are shown: it stands still while paused, and while nothing is heard.
  var shownTime: MonitorTime {
    if let paused { return paused.time }
    if let replay { return replay.time }
    return live.isSilent ? live.lastUpdate ?? now : now
  }

  private mutating func reduceTick() -> [Effect] {
    if !live.isSilent, replay == nil { live.advance(to: now) }
    if view == .timeline { settle() }
    if let notice, notice.expires <= now { self.notice = nil }
    if let goTo, goTo.expires <= now {
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
    guard paused == nil, !live.isSilent, helpTop == nil, picker == nil, replay == nil else {
      return false
    }
    guard layout(for: size) != nil else { return false }
    if let selected, let report = live.operations[selected], !report.state.isOver { return true }
    if detail == nil {
      switch view {
      case .operations: if visibleKeys.contains(where: { !$0.isOver }) { return true }
      case .tree: return visibleTreeRows.contains { ages($0) }
      case .queues, .timeline, .events: return false
      }
    }
    return pane.map { ($0.waitsFor.rows + $0.blocks.rows).contains { ages($0) } } ?? false
  }

  private func ages(_ row: DependencyTree.Row) -> Bool {
    switch row.id {
    case .node(let id), .reference(let id, _): live.operations[id]?.state.isOver == false
    case .group, .queue, .folded, .unknown, .cut: false
    }
  }
}
