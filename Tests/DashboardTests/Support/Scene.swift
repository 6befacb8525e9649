// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// The state of an imaginary program that renders image tiles, at one moment. It includes
/// operations in every state, shared dependencies and unusual names.
enum Scene {
  static let cpu = QueueReport.ID(1)
  static let io = QueueReport.ID(2)
  static let net = QueueReport.ID(3)
  static let index = QueueReport.ID(4)

  /// The time of the scene: 1 m 42 s after the process started, at 12:04:31.
  static let now = seconds(102)

  /// The widths of a screen from which on a view shows more, for example two columns or a pane.
  static let widthLimits = [DetailRows.halvesThreshold, 80, 100, Layout.paneThreshold]

  /// Returns the time that is a number of seconds after the start of the process.
  static func seconds(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  static let hello = Hello(
    processName: "opq-top", processID: 4711, isReadOnly: false, anchor: seconds(0),
    anchorSecondsSince1970: 12 * 3_600 + 2 * 60 + 49, processStarted: seconds(0))

  static let queues = [
    QueueReport(
      id: cpu, name: "cpu",
      counts: StateCounts(
        waiting: 311, ready: 20, executing: 2, cancelling: 1, finished: 98, cancelled: 4,
        total: 435),
      width: 2),
    QueueReport(
      id: io, name: "io",
      counts: StateCounts(
        waiting: 40, ready: 5, executing: 2, finished: 301, cancelled: 5, total: 353),
      width: 4),
    QueueReport(
      id: net, name: "net",
      counts: StateCounts(waiting: 30, ready: 12, held: 12, finished: 9, total: 51), width: 6,
      isSuspended: true),
    QueueReport(
      id: index, name: "index",
      counts: StateCounts(waiting: 10, executing: 1, finished: 4, total: 15), width: 1),
  ]

  private static func report(
    _ id: UInt64, _ name: String, _ state: OperationState, on queue: QueueReport.ID,
    since: Double, _ priority: OperationPriority = .normal, needs: [UInt64] = [], unmet: Int = 0,
    ran: Double? = nil, className: String = "BlockOperation"
  ) -> OperationReport {
    let isStarted = state == .executing || state == .cancelling || ran != nil
    let entered = seconds(since)
    let started =
      !isStarted
      ? nil : ran.map { seconds(since - $0) } ?? (state == .cancelling ? seconds(95) : entered)
    return OperationReport(
      id: OperationReport.ID(id), name: name, className: className, queue: queue, state: state,
      priority: priority, dependencies: needs.map(OperationReport.ID.init),
      unmetDependencyCount: unmet, added: seconds(2.2),
      becameReady: state == .waiting ? nil : started ?? entered, started: started,
      cancelRequested: state == .cancelling || state == .cancelled ? entered : nil,
      finished: state.isOver ? entered : nil)
  }

  static let operations: [OperationReport] =
    [
      report(
        1042, "download tiles z=14 eu", .executing, on: io, since: 89.6, .high,
        needs: [1037, 1038, 1039]),
      report(1051, "download tiles z=14 us", .executing, on: io, since: 93.98, needs: [1037]),
      report(1080, "resample landuse", .executing, on: cpu, since: 98.1, needs: [1035, 1036]),
      report(1095, "", .executing, on: index, since: 101.096, className: "IndexWriter"),
      report(
        1077, "resample dem", .cancelling, on: cpu, since: 97.8, needs: [1035, 1036],
        className: "ResampleOperation"),
      report(
        1103, "merge shard 5", .ready, on: cpu, since: 99.9, .high, needs: [1035, 1036, 1037]),
      report(1104, "merge shard 6", .ready, on: cpu, since: 99.92, needs: [1035, 1036, 1037]),
      report(1110, "upload shard 1", .held, on: net, since: 71, needs: [1099]),
      report(1111, "upload shard 2", .held, on: net, since: 71.8, needs: [1099]),
      report(
        1101, "merge shard 3", .waiting, on: cpu, since: 2.2, .high, needs: [1077, 1078, 1079],
        unmet: 1),
      report(
        1180, "merge all shards", .waiting, on: cpu, since: 2.2, needs: [1042, 1101, 1099], unmet: 2
      ),
      report(1181, "write manifest", .waiting, on: io, since: 2.2, needs: [1180], unmet: 1),
      report(
        1190, "verify uploads", .waiting, on: net, since: 2.2,
        needs: [1110, 1111] + Array(1122...1139) + Array(1015...1024) + [1101], unmet: 21),
      report(
        1200, "publish index", .waiting, on: index, since: 2.2, .veryHigh, needs: [1181, 1190],
        unmet: 2),
      report(1099, "merge shard 1", .finished, on: cpu, since: 70.9, needs: [1035], ran: 0.41),
      report(
        1078, "resample slope", .finished, on: cpu, since: 80, needs: [1035, 1036], ran: 0.88),
      report(
        1079, "resample aspect", .finished, on: cpu, since: 81, needs: [1035, 1036], ran: 0.871),
      report(1035, "GET dem.idx", .finished, on: io, since: 40, ran: 0.31),
      report(1036, "GET dem.tif", .finished, on: io, since: 41, ran: 1),
      report(1037, "fetch catalogue", .finished, on: io, since: 42, needs: [900], ran: 1.02),
      report(
        1038, "download tiles z=12 us", .finished, on: io, since: 50, needs: [1037], ran: 2.71),
      report(
        1039, "download tiles z=12 eu", .finished, on: io, since: 51, needs: [1037], ran: 2.75),
      report(1033, "download tiles z=15 antarctica and the islands", .cancelled, on: io, since: 60),
    ]
    + (1122...1139).map {
      report(
        UInt64($0), "upload shard \($0 - 1108)", .waiting, on: net, since: 2.2, needs: [1101],
        unmet: 1)
    }
    + (1015...1024).map {
      report(UInt64($0), "upload shard \($0 - 983)", .finished, on: net, since: 30, ran: 0.2)
    }

  static var update: Update { update(of: operations) }

  /// Returns the update that a monitor sends if the process has these operations.
  static func update(of operations: [OperationReport]) -> Update {
    FakeMonitor(operations).update(
      for: Interest(), queues: queues, changed: operations.map(\.id), removed: [], at: now)
  }

  /// Returns a dashboard that has received the state of the program.
  static func dashboard(
    columns: Int = 80, rows: Int = 24,
    configuration: Dashboard.Configuration = .init(title: "tiles")
  ) -> Dashboard {
    var dashboard = Dashboard(configuration: configuration)
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(now))
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }
}
