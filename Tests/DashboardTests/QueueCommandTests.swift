// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Commands for queues")
struct QueueCommandTests {
  /// Returns a dashboard that shows the queues of another process, with `io` selected.
  private static func dashboard(
    columns: Int = 80, source: Source = .process("other")
  ) -> Dashboard {
    var dashboard = Scene.dashboard(
      columns: columns, configuration: .init(source: source, title: "tiles"))
    dashboard.take(.input(.alt("3")))
    dashboard.press("j")
    return dashboard
  }

  private static func queues(_ change: (inout QueueReport) -> Void) -> [QueueReport] {
    Scene.queues.map { queue in
      var queue = queue
      if queue.id == Scene.io { change(&queue) }
      return queue
    }
  }

  private static func report(
    _ queues: [QueueReport], to dashboard: inout Dashboard, at time: MonitorTime? = nil
  ) {
    var update = Scene.update
    update.queues = queues
    update.time = time ?? dashboard.now
    dashboard.take(.monitor(.update(update)))
  }

  private static func answer(
    _ command: MonitorCommand, _ outcome: CommandResult.Outcome = .requested,
    to dashboard: inout Dashboard
  ) {
    dashboard.take(
      .monitor(.commandResult(CommandResult(command: command, outcomes: [outcome]))))
  }

  // MARK: Suspending

  @Test func suspendingAsksAndNamesTheQueue() {
    var dashboard = Self.dashboard()
    #expect(dashboard.press("S") == [])
    #expect(dashboard.text().shows("Suspend queue io?"))
    #expect(dashboard.text().shows("No other operation of the queue starts."))
    #expect(dashboard.press("a") == [.bell])
    #expect(dashboard.press("n") == [])
    #expect(dashboard.text().shows("not suspended"))
    dashboard.press("S")
    #expect(dashboard.press("y") == [.send(.setSuspended(Scene.io, true))])
  }

  @Test func resumingAsksAndNamesTheQueue() {
    var dashboard = Self.dashboard()
    dashboard.press("jS")
    #expect(dashboard.text().shows("Resume queue net?"))
    #expect(dashboard.text().shows("The queue's 12 held operations can start."))
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("not resumed"))
    dashboard.press("S")
    #expect(dashboard.press("y") == [.send(.setSuspended(Scene.net, false))])
  }

  @Test func theQuestionKeepsItsQueue() {
    var dashboard = Self.dashboard()
    dashboard.press("S")
    Self.report(Array(Scene.queues.dropFirst().reversed()), to: &dashboard)
    #expect(dashboard.press("y") == [.send(.setSuspended(Scene.io, true))])
  }

  @Test func theQuestionClosesWithItsQueue() {
    var dashboard = Self.dashboard()
    dashboard.press("S")
    Self.report([Scene.queues[0]], to: &dashboard)
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("not suspended: the queue no longer exists"))
    #expect(!dashboard.press("y").contains { $0.isCommand })
  }

  @Test func theQuestionClosesIfTheConnectionIsLost() {
    var dashboard = Self.dashboard()
    dashboard.press("S")
    dashboard.take(.monitor(.disconnected(reason: "the other side closed it")))
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("not suspended: the connection is lost"))
  }

  @Test func theBundledDemoDoesNotAsk() {
    var dashboard = Self.dashboard(source: .demo)
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.io, true))])
    // The second press of the key `S` resumes the queue, even if the result of the first press has
    // not arrived.
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.io, false))])
  }

  // MARK: Widths

  @Test("Six quick + raise a width of 2 by 6")
  func quickKeysAddUp() {
    var dashboard = Self.dashboard()
    dashboard.press("k")
    let effects = dashboard.press("++++++")
    #expect(effects == (3...8).map { .send(.setWidth(Scene.cpu, $0)) })
    #expect(dashboard.text().shows("queue cpu: width 2 → 8 requested"))
    #expect(dashboard.press("--") == [7, 6].map { .send(.setWidth(Scene.cpu, $0)) })
    #expect(dashboard.press("-----").count == 5)
    #expect(dashboard.press("-") == [.bell])
  }

  @Test("Widths add up over a slow connection, whose updates and results are late")
  func slowResults() {
    var dashboard = Self.dashboard()
    dashboard.press("++")
    dashboard.take(.tick(Scene.seconds(110)))
    // The next update is older than the commands, so it does not change the width to which the next
    // key `+` adds 1.
    Self.report(Scene.queues, to: &dashboard, at: Scene.seconds(103))
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 7))])
    Self.answer(.setWidth(Scene.io, 5), to: &dashboard)
    #expect(dashboard.text().shows("queue io: width 4 → 7 requested"))
    Self.answer(.setWidth(Scene.io, 6), to: &dashboard)
    Self.report(Self.queues { $0.width = 5 }, to: &dashboard, at: Scene.seconds(104))
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 8))])
    Self.answer(.setWidth(Scene.io, 7), to: &dashboard)
    Self.answer(.setWidth(Scene.io, 8), to: &dashboard)
    #expect(dashboard.text().shows("queue io has width 8"))
    #expect(dashboard.text().shows("2/4→8") || dashboard.text().shows("2/5→8"))
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 9))])
  }

  @Test func aReportedWidthReplacesTheRequestedOne() {
    var dashboard = Self.dashboard()
    dashboard.press("+")
    Self.answer(.setWidth(Scene.io, 5), to: &dashboard)
    Self.report(Self.queues { $0.width = 5 }, to: &dashboard)
    #expect(dashboard.text().shows("2/5") && !dashboard.text().shows("→5"))
    // The program reduces the width of the queue to 2. The next key `+` adds 1 to this width.
    Self.report(Self.queues { $0.width = 2 }, to: &dashboard)
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 3))])
  }

  @Test("If the program changes the width meanwhile, the next update shows the program's width")
  func theProgramWins() {
    var dashboard = Self.dashboard()
    dashboard.press("+")
    Self.answer(.setWidth(Scene.io, 5), to: &dashboard)
    Self.report(Self.queues { $0.width = 1 }, to: &dashboard, at: Scene.seconds(103))
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 2))])
  }

  @Test(
    "A request without success is forgotten",
    arguments: [CommandResult.Outcome.denied, .unknown, .lost])
  func failures(outcome: CommandResult.Outcome) {
    var dashboard = Self.dashboard()
    dashboard.press("+++")
    Self.answer(.setWidth(Scene.io, 5), outcome, to: &dashboard)
    #expect(!dashboard.text().shows("→7"))
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 5))])
  }

  @Test("The requested width stands beside the reported one", arguments: [40, 80, 120])
  func theRequestedWidthIsShown(columns: Int) {
    var dashboard = Self.dashboard(columns: columns)
    dashboard.press("+++")
    dashboard.take(.tick(Scene.seconds(110)))
    let row = dashboard.text().first { $0.contains("▌ io") }
    #expect(row?.contains("→7") == true, "\(row ?? "")")
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test("Widths have commas between thousands", arguments: [40, 120])
  func largeWidths(columns: Int) {
    var dashboard = Self.dashboard(columns: columns)
    Self.report(Self.queues { $0.width = 1_200 }, to: &dashboard)
    dashboard.press("+")
    #expect(dashboard.text().shows("width 1,200 → 1,201"))
    let row = dashboard.text().first { $0.contains("▌ io") }
    #expect(row?.contains("→1,201") == true, "\(row ?? "")")
    Self.answer(.setWidth(Scene.io, 1_201), to: &dashboard)
    #expect(dashboard.text().shows("queue io has width 1,201"))
  }

  // MARK: Suspended and ended queues

  @Test("A suspended queue has room before all others", arguments: [(80, 24), (120, 40)])
  func suspendedQueuesAreNotFolded(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    var queues = (10..<30).map {
      QueueReport(id: .init(UInt64($0)), name: "queue-\($0)", counts: StateCounts(), width: 4)
    }
    queues.append(
      QueueReport(
        id: .init(99), name: "last", counts: StateCounts(ready: 3, held: 3, total: 3), width: 2,
        isSuspended: true))
    Self.report(queues, to: &dashboard)
    let row = dashboard.text().first { $0.contains("last SUSPENDED") || $0.contains("last    ") }
    #expect(row?.contains("SUSPENDED") == true)
    #expect(dashboard.text().shows(" more") && dashboard.text().shows("queue-10"))
    // If not all suspended queues fit on the screen, a row shows the number of the others and the
    // word SUSPENDED.
    for index in queues.indices { queues[index].isSuspended = true }
    Self.report(queues, to: &dashboard)
    let more = dashboard.text().first { $0.contains(" more, ") } ?? ""
    #expect(more.contains("SUSPENDED"), "\(more)")
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test func anEndedProcessShowsNoSlots() {
    for view: Unicode.Scalar in ["1", "3", "4"] {
      var dashboard = Self.dashboard()
      dashboard.take(.input(.alt(view)))
      dashboard.take(.monitor(.ended(reason: "the process exited")))
      #expect(dashboard.text().shows("ended"))
      #expect(!dashboard.text().shows("2/4") && !dashboard.text().shows("SUSPENDED"), "\(view)")
    }
  }
}
