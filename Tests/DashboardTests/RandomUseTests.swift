// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("Random use")
struct RandomUseTests {
  private static let inputs =
    KeyTable.bindings.flatMap(\.inputs) + "asdfgzX7 é".unicodeScalars.map { .character($0) }

  private static func operation(_ random: inout SeededGenerator) -> OperationReport {
    let id = Int.random(in: 1...150, using: &random)
    let moment = MonitorTime(nanoseconds: Int64.random(in: 0...200_000_000_000, using: &random))
    let names = ["", "plain", "漢字 wide", "e\u{301}\u{302}", "\u{1B}[2J\r\n", "\u{202E}evil"]
    let needs = (0..<Int.random(in: 0...12, using: &random)).map { _ in
      OperationReport.ID(Int.random(in: 1...200, using: &random))
    }
    return OperationReport(
      id: OperationReport.ID(id), name: names.randomElement(using: &random) ?? "",
      className: "Block", queue: QueueReport.ID(UInt64.random(in: 1...5, using: &random)),
      state: OperationState.allCases.randomElement(using: &random) ?? .waiting,
      priority: OperationPriority.allCases.randomElement(using: &random) ?? .normal,
      dependencies: needs, unmetDependencyCount: Int.random(in: 0...14, using: &random),
      added: moment, becameReady: moment, started: Bool.random(using: &random) ? moment : nil,
      cancelRequested: moment, finished: moment)
  }

  /// Returns an action of the mouse at any cell of the screen or outside it.
  private static func mouseInput(_ random: inout SeededGenerator) -> Input {
    let kind = MouseInput.Kind.allCases.randomElement(using: &random) ?? .press
    return .mouse(
      MouseInput(
        kind, row: Int.random(in: 0...50, using: &random),
        column: Int.random(in: 0...150, using: &random)))
  }

  /// Returns an update with the runs and the events of these operations.
  private static func history(
    _ operations: [OperationReport], _ random: inout SeededGenerator
  ) -> Update {
    var update = Update(time: Scene.now, queues: Scene.queues)
    var runs: [OperationReport.ID: OperationRun] = [:]
    var events: [OperationEvent] = []
    for report in operations {
      let start = report.added ?? Scene.now
      let end = start + .milliseconds(Int.random(in: 0...60_000, using: &random))
      runs[report.id] = OperationRun(
        id: report.id, title: report.name, queue: report.queue, state: report.state,
        started: start, finished: Bool.random(using: &random) ? end : nil,
        kind: ["", "Block", "漢字", nil].randomElement(using: &random) ?? nil)
      events.append(
        OperationEvent(
          time: start, operation: report.id, title: report.name, queue: report.queue,
          old: OperationState.allCases.randomElement(using: &random), new: report.state))
    }
    update.warnings = MonitorWarning.Kind.allCases.filter { _ in
      Int.random(in: 0..<8, using: &random) == 0
    }.map { kind in
      MonitorWarning(
        kind: kind, operations: Array(operations.prefix(3).map(\.id)), awaitedTitle: "\u{1B}[1m",
        queue: QueueReport.ID(1), count: 3, since: Scene.now)
    }
    addGroups(to: &update, &random)
    update.runs = RecentRuns(
      runs: runs.values.sorted { ($0.started, $0.id) < ($1.started, $1.id) },
      count: Int.random(in: 0...100_000, using: &random))
    update.events = EventNews(
      events: events.sorted { $0.time < $1.time },
      skippedCount: Int.random(in: 0...2, using: &random) * 700,
      isBeginning: Bool.random(using: &random))
    addQueueValues(of: operations, to: &update, &random)
    return update
  }

  /// Adds groups to an update.
  private static func addGroups(to update: inout Update, _ random: inout SeededGenerator) {
    let names = ["", "漢字", "Merge", "\u{1B}[2J", "\u{301}mark"]
    let by = OperationGroups.By.allCases.randomElement(using: &random) ?? .kind
    let keys: [OperationGroups.Key] =
      by == .kind ? names.map { .kind($0) } : (1...6).map { .queue(QueueReport.ID($0)) }
    update.groups = OperationGroups(
      by: by,
      groups: keys.filter { _ in Bool.random(using: &random) }.map { key in
        OperationGroups.Group(
          key: key, counts: StateCounts(executing: Int.random(in: 0...9, using: &random)),
          endedCount: Int.random(in: 0...100, using: &random),
          runBuckets: Array(repeating: 3, count: OperationGroups.bucketCount))
      }, otherCount: Int.random(in: 0...2, using: &random))
  }

  /// Adds starts, limits and run orders of the queues to an update. Some queues are missing.
  private static func addQueueValues(
    of operations: [OperationReport], to update: inout Update, _ random: inout SeededGenerator
  ) {
    update.queues.removeAll { _ in Int.random(in: 0..<12, using: &random) == 0 }
    for index in update.queues.indices {
      update.queues[index].startedCount = Int.random(in: 0...9_000, using: &random)
      update.queues[index].width = [nil, 0, 1, 8, 5_000].randomElement(using: &random) ?? nil
      if Bool.random(using: &random) {
        update.queues[index].startLimit = .init(count: 100, periodSeconds: 60)
      }
      var ids = operations.map(\.id)
      ids.shuffle(using: &random)
      var order = RunOrder(queue: update.queues[index].id)
      order.executing = Array(ids.prefix(4))
      order.ready = Array(ids.dropFirst(4))
      order.isCut = Bool.random(using: &random)
      order.isEstimated = Bool.random(using: &random)
      update.runOrders.append(order)
    }
  }

  @Test(
    "T14: random keys, clicks, sizes and updates never trap, and every picture is complete",
    arguments: 0..<Effort.scaled(40))
  func randomUseIsHarmless(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var dashboard = Scene.dashboard(configuration: .withMouse)
    for _ in 0..<Effort.scaled(400) {
      // In the other rounds, clicks concern an earlier frame, which the terminal still shows.
      if Bool.random(using: &random) { dashboard.show() }
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        let size = Size(
          columns: Int.random(in: 0...140, using: &random),
          rows: Int.random(in: 0...45, using: &random))
        dashboard.take(.resized(size))
      case 1, 2:
        let changed = (0..<Int.random(in: 0...20, using: &random)).map { _ in
          Self.operation(&random)
        }
        let removed = (0..<Int.random(in: 0...5, using: &random)).map { _ in
          OperationReport.ID(Int.random(in: 1...1_200, using: &random))
        }
        dashboard.update(changed: changed, removed: removed)
        dashboard.take(.monitor(.update(Self.history(changed, &random))))
      case 3:
        dashboard.take(
          .tick(dashboard.now + .milliseconds(Int.random(in: 0...3_000, using: &random))))
      case 4, 5:
        dashboard.take(.input(Self.mouseInput(&random)))
      default:
        guard let input = Self.inputs.randomElement(using: &random) else { continue }
        dashboard.take(.input(input))
      }
      GoldenFrame.checkCells(of: dashboard.picture())
      let next = dashboard.nextTick(after: dashboard.now)
      #expect(next.map { $0 >= dashboard.now } != false, "seed \(seed)")
      // The dashboard stores its layout. It must equal the layout that is computed from the current
      // contents.
      let size = dashboard.screen.size
      let layout = Layout(dashboard.layoutRequest(for: size))
      #expect(dashboard.screen.layout == layout, "seed \(seed)")
      let overlay = dashboard.overlayRequest(for: size).flatMap { Layout($0) }
      #expect(dashboard.screen.overlayLayout == overlay, "seed \(seed)")
      let rows = dashboard.list.rows.keys
      #expect(Set(rows.map(\.id)).count == rows.count, "seed \(seed)")
      let listing = dashboard.list.listing
      let listed = dashboard.shown.operations.all.filter { report in
        let queueName = dashboard.shown.queue(report.queue)?.name ?? ""
        let isListed =
          !(listing.hidesOver && report.state.isOver)
          && !(listing.showsWarnedOnly && !dashboard.shown.warned.contains(report.id))
          && listing.filter?.matches(report, queueName: queueName, at: dashboard.shownTime) != false
        // The row of an operation that the user has cancelled stays for 2 s.
        return isListed || dashboard.list.cancelledRows.key(of: report.id) != nil
      }
      #expect(Set(rows.map(\.id)) == Set(listed.map(\.id)), "seed \(seed)")
    }
  }
}
