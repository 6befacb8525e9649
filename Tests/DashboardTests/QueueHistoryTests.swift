// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The starts and the use of a queue")
struct QueueHistoryTests {
  private static func queue(_ started: Int?, executing: Int = 0, width: Int? = 4) -> QueueReport {
    var queue = QueueReport(
      id: Scene.cpu, name: "cpu", counts: StateCounts(executing: executing), width: width)
    queue.startedCount = started
    return queue
  }

  /// Returns the state of a process that has sent the first greeting and this queue at 0 s.
  private static func state(_ queue: QueueReport) -> MonitoredState {
    var state = MonitoredState()
    state.apply(.hello(Scene.hello))
    report(queue, at: 0, to: &state)
    return state
  }

  private static func report(
    _ queue: QueueReport, at seconds: Double, behind: Duration = .zero,
    to state: inout MonitoredState
  ) {
    var update = Update(time: Scene.seconds(seconds), queues: [queue])
    update.behind = behind
    state.apply(.update(update))
  }

  private static func history(_ state: MonitoredState) throws -> QueueHistory {
    try #require(state.queueHistories[Scene.cpu])
  }

  @Test("QV-2: The starts are counted in the second in which they are reported")
  func starts() throws {
    var state = Self.state(Self.queue(100))
    #expect(try Self.history(state).rate == nil)
    Self.report(Self.queue(102), at: 0.5, to: &state)
    Self.report(Self.queue(103), at: 0.9, to: &state)
    Self.report(Self.queue(110), at: 3.5, to: &state)
    #expect(try Self.history(state).samples == [3, 0, 0])
    state.advance(to: Scene.seconds(4))
    #expect(try Self.history(state).samples == [3, 0, 0, 7])
    state.advance(to: Scene.seconds(200))
    let history = try Self.history(state)
    #expect(history.samples == Array(repeating: 0, count: QueueHistory.capacity))
    #expect(!history.isMoving(within: QueueHistory.capacity))
  }

  @Test("QV-2: An operation that is chosen twice before it begins is one start")
  func chosenOperation() throws {
    var state = Self.state(Self.queue(100))
    for (count, second) in [(101, 0.2), (100, 0.4), (101, 0.6), (102, 0.8)] {
      Self.report(Self.queue(count), at: second, to: &state)
    }
    state.advance(to: Scene.seconds(1))
    #expect(try Self.history(state).samples == [2])
  }

  @Test("QV-2: An operation that is chosen in one second and begins in a later one is one start")
  func chosenOperationOfAnEarlierSecond() throws {
    var state = Self.state(Self.queue(100))
    for (count, second) in [(103, 0.2), (104, 1.8), (105, 2.5), (103, 3.2), (105, 4.6)] {
      Self.report(Self.queue(count), at: second, to: &state)
    }
    #expect(try Self.history(state).samples == [3, 0, 0, 0])
    state.advance(to: Scene.seconds(5))
    // The sum of the seconds is the increase of the number.
    #expect(try Self.history(state).samples == [3, 0, 0, 0, 2])
  }

  @Test("QV-2: An operation that was chosen before the history began counts when it begins")
  func chosenOperationBeforeTheHistory() throws {
    var state = Self.state(Self.queue(100))
    for (count, second) in [(99, 0.4), (100, 1.2), (101, 1.4)] {
      Self.report(Self.queue(count), at: second, to: &state)
    }
    state.advance(to: Scene.seconds(2))
    #expect(try Self.history(state).samples == [0, 2])
  }

  @Test("QV-2: The rate is the mean of the last five complete seconds")
  func rate() throws {
    var state = Self.state(Self.queue(0))
    Self.report(Self.queue(10), at: 0.5, to: &state)
    state.advance(to: Scene.seconds(1))
    #expect(try Self.history(state).rate == 10)
    state.advance(to: Scene.seconds(4))
    #expect(try Self.history(state).rate == 2.5)
    state.advance(to: Scene.seconds(6))
    #expect(try Self.history(state).rate == 0)
  }

  @Test("QV-2: The use is the mean share of the taken slots over the last minute")
  func use() throws {
    var state = Self.state(Self.queue(0, executing: 4))
    #expect(try Self.history(state).use == nil)
    Self.report(Self.queue(0, executing: 2), at: 0.5, to: &state)
    state.advance(to: Scene.seconds(1))
    #expect(try Self.history(state).use == .share(0.75))
    state.advance(to: Scene.seconds(2))
    #expect(try Self.history(state).use == .share(0.625))
    // After a minute, only the present use counts.
    state.advance(to: Scene.seconds(70))
    #expect(try Self.history(state).use == .share(0.5))
  }

  @Test("QV-2: Without a width, the use is the mean number of executing operations")
  func useWithoutWidth() throws {
    var state = Self.state(Self.queue(0, executing: 3, width: nil))
    state.advance(to: Scene.seconds(5))
    let history = try Self.history(state)
    #expect(history.use == .count(3))
    #expect(QueueHistoryText(history, glyphs: Glyphs(isUnicode: true)).use(cells: 4) == "~3.0")
  }

  @Test("QV-2: More executing operations than slots are not more than all slots")
  func useAboveTheWidth() throws {
    var state = Self.state(Self.queue(0, executing: 9, width: 2))
    state.advance(to: Scene.seconds(5))
    #expect(try Self.history(state).use == .share(1))
  }

  @Test("QV-3: After the process did not answer, the history begins again")
  func silence() throws {
    var state = Self.state(Self.queue(0))
    Self.report(Self.queue(5), at: 1.5, to: &state)
    state.apply(.silent(for: .seconds(10)))
    state.apply(.silent(for: .zero))
    Self.report(Self.queue(5_000), at: 20, to: &state)
    #expect(try Self.history(state).samples == [])
    Self.report(Self.queue(5_001), at: 20.5, to: &state)
    state.advance(to: Scene.seconds(21))
    #expect(try Self.history(state).samples == [1])
  }

  @Test("QV-3: After an update that was late, the history begins again")
  func lateUpdate() throws {
    var state = Self.state(Self.queue(0))
    Self.report(Self.queue(900), at: 5, behind: .seconds(3), to: &state)
    state.advance(to: Scene.seconds(6))
    #expect(try Self.history(state).samples == [0])
  }

  @Test("QV-3: After another greeting or a jump back in time, the history begins again")
  func jumps() throws {
    var state = Self.state(Self.queue(0))
    Self.report(Self.queue(50), at: 10.5, to: &state)
    state.apply(.hello(Scene.hello))
    Self.report(Self.queue(900), at: 30, to: &state)
    #expect(try Self.history(state).samples == [])
    Self.report(Self.queue(20), at: 3, to: &state)
    state.advance(to: Scene.seconds(4))
    #expect(try Self.history(state).samples == [0])
  }

  @Test("QV-3: An update that arrives after the end of its second continues the history")
  func updateAfterItsSecond() throws {
    var state = Self.state(Self.queue(0, executing: 4))
    Self.report(Self.queue(3, executing: 2), at: 1.5, to: &state)
    state.advance(to: Scene.seconds(2))
    Self.report(Self.queue(8, executing: 2), at: 1.98, to: &state)
    state.advance(to: Scene.seconds(3))
    let history = try Self.history(state)
    #expect(history.samples == [0, 3, 5])
    // Four slots of four were taken for 1.5 s, and two for 1.5 s.
    #expect(history.use == .share(0.75))
  }

  @Test("QV-4: More executing operations than slots cause no ticks after a minute")
  func useAboveTheWidthSettles() throws {
    var state = Self.state(Self.queue(0, executing: 9, width: 2))
    state.advance(to: Scene.seconds(70))
    #expect(try !Self.history(state).isSettling(within: QueueHistory.capacity))
  }

  @Test("QV-3: A number that decreases is no start")
  func decrease() throws {
    var state = Self.state(Self.queue(50))
    Self.report(Self.queue(20), at: 0.5, to: &state)
    Self.report(Self.queue(21), at: 0.6, to: &state)
    state.advance(to: Scene.seconds(1))
    #expect(try Self.history(state).samples == [1])
  }

  @Test("QV-2: If the process does not report starts, their number is unknown and the use is known")
  func unknownStarts() throws {
    var state = Self.state(Self.queue(nil, executing: 4))
    Self.report(Self.queue(nil, executing: 4), at: 0.5, to: &state)
    state.advance(to: Scene.seconds(3))
    let history = try Self.history(state)
    #expect(history.samples == [] && history.rate == nil && history.use == .share(1))
  }

  @Test("The history of a queue that no longer exists is forgotten")
  func forgottenQueues() {
    var state = Self.state(Self.queue(1))
    state.apply(.update(Update(time: Scene.seconds(1))))
    #expect(state.queueHistories.isEmpty)
  }

  // MARK: Ticks

  /// Returns a dashboard that shows the queues, and in which nothing executes.
  private static func idleDashboard(columns: Int = 80) -> Dashboard {
    var dashboard = Dashboard(configuration: .init(title: "tiles"))
    dashboard.take(.resized(Size(columns: columns, rows: 24)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.input(.alt("3")))
    for (started, time) in [(0, 0.0), (4, 0.5)] {
      dashboard.take(.tick(Scene.seconds(time)))
      dashboard.take(
        .monitor(.update(Update(time: Scene.seconds(time), queues: [queue(started)]))))
    }
    return dashboard
  }

  @Test("QV-4: The histories cause ticks only until they no longer change", arguments: [80, 200])
  func ticksEnd(columns: Int) {
    var dashboard = Self.idleDashboard(columns: columns)
    var count = 0
    while let next = dashboard.nextTick(after: dashboard.now), count < 1_000 {
      dashboard.take(.tick(next))
      count += 1
    }
    #expect((5...QueueHistory.capacity + 2).contains(count))
    // The rows above the table have the time of day and the finished operations.
    let top = dashboard.screen.layout?.headings ?? 0
    let text = dashboard.text().dropFirst(top)
    dashboard.take(.tick(dashboard.now + .seconds(3)))
    #expect(dashboard.text().dropFirst(top) == text)
  }

  @Test("QV-4: Another view needs no ticks for the histories", arguments: ["1", "5"])
  func otherViewsNeedNoTicks(view: Unicode.Scalar) {
    var dashboard = Self.idleDashboard()
    #expect(dashboard.queueHistoryMoves)
    dashboard.take(.input(.alt(view)))
    #expect(!dashboard.queueHistoryMoves)
  }

  @Test("QV-4: The queue screen shows the starts of the last minute, and an overlay needs no ticks")
  func ticksOfTheScreen() {
    var dashboard = Self.idleDashboard()
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .queue)
    dashboard.take(.tick(Scene.seconds(30)))
    #expect(dashboard.queueHistoryMoves)
    dashboard.press("!")
    #expect(!dashboard.queueHistoryMoves)
    dashboard.press("q")
    dashboard.take(.tick(Scene.seconds(70)))
    #expect(!dashboard.queueHistoryMoves)
  }
}
