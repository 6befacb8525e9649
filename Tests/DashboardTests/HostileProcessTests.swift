// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

/// Tests with a process that sends arbitrary messages over its socket. A message that can be
/// decoded must not make the dashboard trap.
@Suite("A hostile process")
struct HostileProcessTests {
  private static let inputs =
    KeyTable.bindings.flatMap(\.inputs) + "asdfgzX7 é".unicodeScalars.map { .character($0) }

  /// Ordinary numbers, and numbers with which calculations overflow.
  private static let numbers: [Int64] = [
    .min, .min + 1, -1, 0, 1, 7, 1_000, 102_000_000_000, 1 << 40, 1 << 61, .max - 1, .max,
  ]

  private static func number(_ random: inout SeededGenerator) -> Int64 {
    numbers.randomElement(using: &random) ?? 0
  }

  private static func count(_ random: inout SeededGenerator) -> Int { Int(number(&random)) }

  private static func time(_ random: inout SeededGenerator) -> MonitorTime {
    MonitorTime(nanoseconds: number(&random))
  }

  private static func duration(_ random: inout SeededGenerator) -> Duration {
    .nanoseconds(number(&random))
  }

  private static func ids(_ random: inout SeededGenerator) -> [OperationReport.ID] {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in id(&random) }
  }

  private static func id(_ random: inout SeededGenerator) -> OperationReport.ID {
    .init(Bool.random(using: &random) ? UInt64.random(in: 0...20, using: &random) : .max)
  }

  private static func queue(_ random: inout SeededGenerator) -> QueueReport.ID {
    .init(UInt64.random(in: 0...3, using: &random))
  }

  private static func state(_ random: inout SeededGenerator) -> OperationState {
    OperationState.allCases.randomElement(using: &random) ?? .waiting
  }

  private static func percentiles(_ random: inout SeededGenerator) -> Percentiles {
    Percentiles(
      count: count(&random), p50: duration(&random), p90: duration(&random),
      p99: duration(&random))
  }

  private static func operation(_ random: inout SeededGenerator) -> OperationReport {
    var report = OperationReport(
      id: id(&random), name: "", className: "Merge", queue: queue(&random), state: state(&random),
      priority: OperationPriority.allCases.randomElement(using: &random) ?? .normal,
      dependencies: ids(&random), unmetDependencyCount: count(&random),
      dependentCount: count(&random))
    let isKnown = { (random: inout SeededGenerator) in Bool.random(using: &random) }
    if isKnown(&random) { report.added = time(&random) }
    if isKnown(&random) { report.becameReady = time(&random) }
    if isKnown(&random) { report.started = time(&random) }
    if isKnown(&random) { report.cancelRequested = time(&random) }
    if isKnown(&random) { report.finished = time(&random) }
    return report
  }

  private static func update(_ random: inout SeededGenerator) -> Update {
    var update = Update(
      time: time(&random),
      queues: (0..<3).map { _ in
        QueueReport(
          id: queue(&random), name: "q",
          counts: StateCounts(
            waiting: count(&random), ready: count(&random), held: count(&random),
            executing: count(&random), cancelling: count(&random), finished: count(&random),
            cancelled: count(&random), total: count(&random)), width: count(&random))
      }, changed: (0..<6).map { _ in operation(&random) }, removed: ids(&random),
      matchCount: count(&random), keptCount: count(&random),
      dependents: Dependents(subjects: Set(ids(&random)), ids: ids(&random)), lostChanges: .max)
    update.rootCount = count(&random)
    update.events = EventNews(
      events: (0..<4).map { _ in
        OperationEvent(
          time: time(&random), operation: id(&random), title: "e", queue: queue(&random),
          old: state(&random), new: state(&random))
      }, skippedCount: count(&random), isBeginning: Bool.random(using: &random))
    update.runs = RecentRuns(
      runs: (0..<4).map { _ in
        OperationRun(
          id: id(&random), title: "r", queue: queue(&random), state: state(&random),
          started: time(&random), finished: Bool.random(using: &random) ? time(&random) : nil,
          kind: Bool.random(using: &random) ? "Merge \(Int.random(in: 0...9, using: &random))" : nil
        )
      }, count: count(&random))
    update.warnings = MonitorWarning.Kind.allCases.map {
      MonitorWarning(
        kind: $0, operations: ids(&random), awaited: ids(&random), queue: queue(&random),
        count: count(&random), since: time(&random), usual: duration(&random))
    }
    update.times = TimeStatistics(wait: percentiles(&random), run: percentiles(&random))
    update.kindTimes = ["Merge": TimeStatistics(run: percentiles(&random))]
    update.groups = OperationGroups(
      by: Bool.random(using: &random) ? .kind : .queue,
      groups: (0..<4).map { _ in
        OperationGroups.Group(
          key: Bool.random(using: &random) ? .kind("Merge") : .queue(queue(&random)),
          counts: StateCounts(
            waiting: count(&random), ready: count(&random), executing: count(&random),
            finished: count(&random), total: count(&random)), endedCount: count(&random),
          times: TimeStatistics(wait: percentiles(&random), run: percentiles(&random)),
          runBuckets: [0, count(&random)])
      }, otherCount: count(&random))
    update.runOrders = (0..<2).map { _ in
      RunOrder(queue: queue(&random), ready: ids(&random), isCut: Bool.random(using: &random))
    }
    update.behind = duration(&random)
    update.detail = OperationDetail(
      id: id(&random), reasons: [.init(kind: .excluded, sentence: "\u{1B}[2J")],
      awaitedOperations: ids(&random), awaitedQueues: [queue(&random)])
    return update
  }

  /// Encodes an update, and returns the update that a viewer decodes from the frames.
  private static func received(_ update: Update) throws -> Update? {
    var assembler = UpdateAssembler()
    for frame in UpdateParts(update) {
      guard case .updatePart(let part) = try ProcessMessage(decoding: frame) else { return nil }
      if let whole = try assembler.take(part) { return whole }
    }
    return nil
  }

  private static func received(_ hello: Hello) throws -> Hello? {
    let frame = ProcessMessage.hello(hello, versions: .current).encoded()
    guard case .hello(let received, _) = try ProcessMessage(decoding: frame) else { return nil }
    return received
  }

  /// Two operations with the largest ids. The first operation depends on the second.
  private static let widest: [OperationReport] = {
    let ids = [OperationReport.ID(UInt64.max), OperationReport.ID(UInt64.max - 1)]
    return ids.enumerated().map { index, id in
      OperationReport(
        id: id, name: "the operation with the id \(id)", className: "Merge", queue: Scene.cpu,
        state: index == 0 ? .waiting : .executing, dependencies: index == 0 ? [ids[1]] : [],
        unmetDependencyCount: index == 0 ? 1 : 0, added: Scene.seconds(90),
        becameReady: index == 0 ? nil : Scene.seconds(91),
        started: index == 0 ? nil : Scene.seconds(92))
    }
  }()

  /// Sends the dashboard the operations with the largest ids, and the events and runs that its view
  /// needs.
  private func reportWidest(_ dashboard: inout Dashboard) {
    let interest = dashboard.connection.interest
    var update = Scene.update(of: Scene.operations + Self.widest)
    update.time = dashboard.now
    let events = [OperationState.waiting, .executing].map {
      OperationEvent(
        time: Scene.seconds(92), operation: Self.widest[1].id, title: "the operation",
        queue: Scene.cpu, old: .ready, new: $0)
    }
    if interest.eventLimit > 0 { update.events = EventNews(events: events, isBeginning: true) }
    if interest.timeline != nil {
      let run = OperationRun(
        id: Self.widest[1].id, title: "run", queue: Scene.cpu, state: .executing,
        started: Scene.seconds(92), finished: nil)
      update.runs = RecentRuns(runs: [run], count: 1)
    }
    update.warnings = [MonitorWarning(kind: .cycle, operations: Self.widest.map(\.id))]
    dashboard.take(.monitor(.update(update)))
  }

  @Test(
    "Each view is drawn at each width although ids have 20 digits",
    arguments: Effort.sample(Layout.minimum.columns...130, limits: Scene.widthLimits))
  func theWidestIDsAreDrawn(columns: Int) {
    let digits = "\(UInt64.max)".unicodeScalars.map { Input.character($0) }
    let selection = digits + [.key(.enter)]
    var views = "12345".unicodeScalars.map { [Input.alt($0)] }
    views += [[.character("?")], selection, selection + [.key(.enter)]]
    views += [selection + [.character("d")], selection + [.character("D")]]
    for rows in [Layout.minimum.rows, 40] {
      for keys in views {
        var dashboard = Scene.dashboard(columns: columns, rows: rows)
        reportWidest(&dashboard)
        for key in keys { dashboard.take(.input(key)) }
        reportWidest(&dashboard)
        GoldenFrame.checkCells(of: dashboard.picture())
        GoldenFrame.checkCells(of: dashboard.picture(isUnicode: false))
      }
    }
  }

  @Test(
    "All numbers and times that a process sends are drawn in some form",
    arguments: 0..<Effort.scaled(30))
  func anyNumbersAreShown(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var dashboard = Scene.dashboard()
    for _ in 0..<150 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        let hello = Hello(
          processName: "p", processID: .min, isReadOnly: false, anchor: Self.time(&random),
          anchorSecondsSince1970: [-.infinity, .nan, 1e300, -1e300, 0].randomElement(
            using: &random) ?? 0, processStarted: Self.time(&random))
        dashboard.take(.monitor(.hello(try #require(try Self.received(hello)))))
      case 1, 2, 3:
        let update = try #require(try Self.received(Self.update(&random)))
        dashboard.take(.monitor(.update(update)))
      case 4: dashboard.take(.tick(dashboard.now + .seconds(1)))
      default:
        guard let input = Self.inputs.randomElement(using: &random) else { continue }
        dashboard.take(.input(input))
      }
      GoldenFrame.checkCells(of: dashboard.picture())
      _ = dashboard.nextTick(after: dashboard.now)
    }
  }
}
