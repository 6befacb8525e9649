// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// The state of ``ViewScene`` while the list is grouped, after operations have ended for a minute.
enum GroupScene {
  /// The moment that the dashboard shows.
  static let now = Scene.seconds(162)

  /// Returns a dashboard that has received the groups in each second of a minute. `further` are groups that have ended
  /// no operation in this minute.
  static func dashboard(
    by: OperationGroups.By, columns: Int = 80, rows: Int = 24,
    further: [OperationGroups.Group] = [],
    configuration: Dashboard.Configuration = .init(title: "tiles")
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(
      columns: columns, rows: rows, configuration: configuration)
    dashboard.press(by == .kind ? "v" : "vv")
    for second in 0...60 {
      var groups = groups(by: by, at: second)
      groups.groups += further
      report(groups, &dashboard, at: second)
    }
    return dashboard
  }

  /// Sends groups to a dashboard, a number of seconds after the beginning of the minute.
  static func report(_ groups: OperationGroups?, _ dashboard: inout Dashboard, at second: Int = 60)
  {
    var update = ViewScene.update
    update.time = Scene.seconds(102 + Double(second))
    update.groups = groups
    update.queues[0].counts.finished += ended(before: second, in: 0)
    dashboard.take(.tick(update.time))
    dashboard.take(.monitor(.update(update)))
  }

  /// Returns the groups of a second of the minute. Some operations have no kind, and some have failed.
  static func groups(by: OperationGroups.By, at second: Int = 60) -> OperationGroups {
    var groups = ViewScene.groups(by: by)
    if by == .kind {
      groups.groups.append(
        OperationGroups.Group(
          key: .kind(""),
          counts: StateCounts(waiting: 3, executing: 1, finished: 6, failed: 2, total: 10),
          endedCount: 6,
          times: TimeStatistics(
            run: Percentiles(
              count: 6, p50: .microseconds(310), p90: .milliseconds(2), p99: .milliseconds(3))),
          runBuckets: [0, 0, 1, 2, 3] + Array(repeating: 0, count: 11)))
    }
    for index in groups.groups.indices {
      if by == .queue { groups.groups[index].runBuckets = buckets[index % buckets.count] }
      groups.groups[index].endedCount += ended(before: second, in: index)
    }
    return groups
  }

  private static let buckets: [[Int]] = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 9, 4, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, 2, 9, 20, 9, 2, 0, 0, 0, 0, 0],
    [],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0],
  ]

  /// Returns the number of operations of a group that ended before a second of the minute.
  private static func ended(before second: Int, in index: Int) -> Int {
    let pattern = index % 4
    if pattern == 2 { return 0 }
    return (0..<second).reduce(0) { $0 + ($1 * 7 + index * 5) % (12 - 3 * pattern) }
  }
}
