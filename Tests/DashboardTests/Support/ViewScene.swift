// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// The state of ``Scene`` with the values of version 1.4 of the protocol: run orders, groups, and the times and the
/// starts of each queue.
enum ViewScene {
  /// The queues of ``Scene`` with their times and starts.
  static var queues: [QueueReport] {
    Scene.queues.map { queue in
      var queue = queue
      queue.times = times[queue.id]
      queue.startedCount = startedCount(of: queue, at: 60)
      return queue
    }
  }

  /// The slot waits and the run times of the queues. No operation of the queue `net` has started recently.
  static let times: [QueueReport.ID: TimeStatistics] = [
    Scene.cpu: statistics(
      waits: (.milliseconds(240), .milliseconds(1_300), .milliseconds(4_120)),
      runs: (.milliseconds(1_900), .milliseconds(4_020), .milliseconds(9_100))),
    Scene.io: statistics(
      waits: (.milliseconds(12), .milliseconds(98), .milliseconds(310)),
      runs: (.milliseconds(31), .milliseconds(310), .milliseconds(1_204))),
    Scene.net: TimeStatistics(),
    Scene.index: statistics(
      waits: (.milliseconds(31), .milliseconds(64), .microseconds(90_100)),
      runs: (.milliseconds(904), .milliseconds(904), .milliseconds(904))),
  ]

  /// The run orders of all queues with ready operations. The order of the queue `net` is that after it is resumed.
  static let runOrders: [RunOrder] = [
    RunOrder(queue: Scene.cpu, executing: ids(1080, 1077), ready: ids(1103, 1104)),
    RunOrder(queue: Scene.io, executing: ids(1042, 1051)),
    RunOrder(queue: Scene.net, ready: ids(1110, 1111)),
    RunOrder(queue: Scene.index, executing: ids(1095)),
  ]

  /// Returns the groups of the operations of the list.
  static func groups(by: OperationGroups.By) -> OperationGroups {
    switch by {
    case .kind:
      OperationGroups(
        by: .kind,
        groups: [
          group(.kind("Download"), like: Scene.io, buckets: [0, 0, 0, 0, 0, 0, 2, 9, 20, 9, 2]),
          group(.kind("Resample"), like: Scene.cpu, buckets: [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 9]),
          group(.kind("IndexWriter"), like: Scene.index, buckets: [0, 0, 0, 0, 0, 0, 0, 0, 0, 4]),
        ], otherCount: 3)
    case .queue:
      OperationGroups(
        by: .queue,
        groups: Scene.queues.map { group(.queue($0.id), like: $0.id, buckets: []) })
    }
  }

  /// The update of ``Scene`` with run orders, groups by kind, and the times and the starts of each queue.
  static var update: Update {
    var update = Scene.update
    update.queues = queues
    update.runOrders = runOrders
    update.groups = groups(by: .kind)
    return update
  }

  /// The update with the complete order of the queue `cpu`, which has more ready operations than a screen has rows.
  static var fullUpdate: Update {
    var update = update
    let further = (0..<58).map { index -> OperationReport in
      let isHillshade = index % 4 == 3
      return OperationReport(
        id: .init(UInt64(1_210 + index)),
        name: isHillshade ? "render hillshade \(index / 4 + 1)" : "merge shard \(7 + index)",
        className: isHillshade ? "HillshadeOperation" : "BlockOperation", queue: Scene.cpu,
        state: .ready, priority: index < 40 ? .normal : .low, dependentCount: index % 3,
        added: Scene.seconds(2.2), becameReady: Scene.seconds(99.93 + Double(index) / 40))
    }
    update.changed += further
    update.runOrders[0].ready += further.map(\.id)
    let more = update.runOrders[0].ready.count - update.queues[0].counts.ready
    update.queues[0].counts.ready += more
    update.queues[0].counts.total += more
    update.matchCount += further.count
    update.keptCount += further.count
    return update
  }

  /// The groups of further kinds, which are more than a screen has rows.
  static let furtherKinds: [OperationGroups.Group] = [
    "Merge", "Crop", "Blur", "Sharpen", "Encode", "Upload", "Verify", "Hillshade",
  ].enumerated().flatMap { row, verb in
    ["Tile", "Shard", "Mask", "Index", "Archive", "Catalogue"].enumerated().map { column, noun in
      furtherKind(verb + noun, row * 6 + column)
    }
  }

  private static func furtherKind(_ name: String, _ index: Int) -> OperationGroups.Group {
    let run = Duration.microseconds(90 << (index % 12))
    var buckets = Array(repeating: 0, count: OperationGroups.bucketCount)
    buckets.replaceSubrange(index % 12 / 2 + 3..<index % 12 / 2 + 6, with: [1, 4 + index % 5, 2])
    return OperationGroups.Group(
      key: .kind(name),
      counts: StateCounts(
        waiting: 1 + index % 3, finished: 16 + index,
        failed: index % 11 == 5 ? 1 : 0, total: 20 + index),
      endedCount: 16 + index,
      times: statistics(waits: (run / 3, run / 2, run * 4), runs: (run, run * 2, run * 3)),
      runBuckets: buckets)
  }

  /// Returns a dashboard that has received the state of the program and the starts of the minute before. `isFull`
  /// determines whether the queue `cpu` has more ready operations than a screen has rows.
  static func dashboard(
    columns: Int = 80, rows: Int = 24,
    configuration: Dashboard.Configuration = .init(title: "tiles"), isFull: Bool = false
  ) -> Dashboard {
    var dashboard = Dashboard(configuration: configuration)
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    var update = isFull ? fullUpdate : ViewScene.update
    for second in 0...60 {
      update.time = Scene.seconds(Double(42 + second))
      for index in update.queues.indices {
        update.queues[index].startedCount = startedCount(of: Scene.queues[index], at: second)
      }
      dashboard.take(.tick(update.time))
      dashboard.take(.monitor(.update(update)))
    }
    return dashboard
  }

  /// Returns the number of operations of a queue that have begun to execute before a second of the last minute. The
  /// queue `net` has started none in this minute.
  private static func startedCount(of queue: QueueReport, at second: Int) -> Int {
    let all = queue.counts.executing + queue.counts.finished
    if queue.isSuspended { return all }
    let missing = (second..<60).reduce(0) { $0 + (($1 * 37 + Int(queue.id.rawValue)) % 11) / 8 }
    return all - missing
  }

  private static func group(
    _ key: OperationGroups.Key, like queue: QueueReport.ID, buckets: [Int]
  ) -> OperationGroups.Group {
    let counts = Scene.queues.first { $0.id == queue }?.counts ?? StateCounts()
    let missing = OperationGroups.bucketCount - buckets.count
    return OperationGroups.Group(
      key: key, counts: counts, endedCount: counts.finished + counts.cancelled,
      times: times[queue] ?? TimeStatistics(),
      runBuckets: buckets.isEmpty ? [] : buckets + Array(repeating: 0, count: missing))
  }

  private static func statistics(
    waits: (Duration, Duration, Duration), runs: (Duration, Duration, Duration)
  ) -> TimeStatistics {
    TimeStatistics(
      wait: Percentiles(count: 100, p50: waits.0, p90: waits.1, p99: waits.2),
      run: Percentiles(count: 100, p50: runs.0, p90: runs.1, p99: runs.2))
  }

  private static func ids(_ numbers: Int...) -> [OperationReport.ID] {
    numbers.map { OperationReport.ID($0) }
  }
}
