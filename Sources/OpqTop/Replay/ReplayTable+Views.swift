// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// This file contains the run orders, the groups and the times of queues. A recording does not contain them, so they
// are computed from the reports of the operations.

extension ReplayTable {
  /// The operations that finished in this time before the shown moment are the recent ones.
  private static let recentTime = Duration.seconds(60)

  /// Returns the estimated run orders that a viewer requests, at most ``WireLimits/mostRunOrders``. For a request for
  /// all queues, these are the queues with executing or ready operations.
  func runOrders(_ request: Interest.RunOrderRequest) -> [RunOrder] {
    let requested = request.queues.isEmpty ? nil : Set(request.queues)
    let ready = readyOperations(of: requested)
    let executing = Dictionary(
      grouping: state.operations.all.lazy.filter {
        $0.started != nil && !$0.state.isOver && requested?.contains($0.queue) != false
      },
      by: \.queue)
    let wanted = state.queues.lazy.map(\.id).filter { id in
      requested?.contains(id) ?? (ready[id] != nil || executing[id] != nil)
    }
    let limit = max(0, request.limit)
    return wanted.prefix(WireLimits.mostRunOrders).map { id in
      let running = (executing[id] ?? []).sorted {
        ($0.started ?? time(0), $0.id) < ($1.started ?? time(0), $1.id)
      }
      var order = RunOrder(
        queue: id, executing: running.prefix(limit).map(\.id),
        ready: Array((ready[id] ?? []).prefix(limit)), isCut: (ready[id] ?? []).count > limit)
      order.isEstimated = true
      return order
    }
  }

  /// The estimated positions of the ready operations in the run orders of their queues.
  var positions: [OperationReport.ID: Int] {
    var positions: [OperationReport.ID: Int] = [:]
    for ids in readyOperations().values {
      for (index, id) in ids.prefix(WireLimits.mostRunOrderOperations).enumerated() {
        positions[id] = index + 1
      }
    }
    return positions
  }

  /// Returns the ready operations of these queues, or of all queues, in the estimated order: cancelled operations first,
  /// then by priority, then in the order in which they became ready. The reports do not show barriers, and not when a
  /// priority was changed. Other queues are not sorted, because the dashboard usually requests the order of one queue.
  private func readyOperations(
    of queues: Set<QueueReport.ID>? = nil
  ) -> [QueueReport.ID: [OperationReport.ID]] {
    let ready = state.operations.all.lazy.filter { report in
      guard queues?.contains(report.queue) != false else { return false }
      return switch report.state {
      case .ready, .held: true
      case .cancelling: report.started == nil
      case .waiting, .executing, .finished, .failed, .cancelled: false
      }
    }
    return Dictionary(grouping: ready, by: \.queue).mapValues { reports in
      reports.sorted { isBefore($0, $1) }.map(\.id)
    }
  }

  private func isBefore(_ left: OperationReport, _ right: OperationReport) -> Bool {
    let areCancelled = (left.state == .cancelling, right.state == .cancelling)
    if areCancelled.0 != areCancelled.1 { return areCancelled.0 }
    if !areCancelled.0, left.priority != right.priority {
      return left.priority.rawValue > right.priority.rawValue
    }
    return (left.becameReady ?? time(0), left.id) < (right.becameReady ?? time(0), right.id)
  }

  private func time(_ nanoseconds: Int64) -> MonitorTime { MonitorTime(nanoseconds: nanoseconds) }

  // MARK: Groups

  /// Returns the groups of the operations of a list.
  ///
  /// - Parameters:
  ///   - request: The viewer's request.
  ///   - listed: The operations of the list.
  ///   - now: The shown moment.
  /// - Returns: The groups.
  func groups(
    _ request: Interest.GroupsRequest, of listed: [OperationReport.ID], at now: MonitorTime
  ) -> OperationGroups {
    var counts: [OperationGroups.Key: StateCounts] = [:]
    for report in listed.lazy.compactMap({ state.operations[$0] }) {
      counts[key(of: report, by: request.by), default: StateCounts()].add(report.state)
    }
    let times = recentTimes({ key(of: $0, by: request.by) }, at: now)
    let endedQueues = Dictionary(
      state.queues.lazy.map { ($0.id, $0.counts.finished + $0.counts.cancelled) },
      uniquingKeysWith: { first, _ in first })
    let groups = counts.map { key, counts in
      var group = OperationGroups.Group(key: key, counts: counts)
      let recent = times[key]
      group.times = recent?.statistics ?? TimeStatistics()
      group.runBuckets = recent?.runBuckets ?? []
      switch key {
      case .kind(let kind): group.endedCount = endedKinds[kind] ?? 0
      case .queue(let id): group.endedCount = endedQueues[id] ?? 0
      }
      return group
    }
    let names = state.queueNames
    let sorted = groups.sorted { left, right in
      let unfinished = (left.counts.unfinished, right.counts.unfinished)
      if unfinished.0 != unfinished.1 { return unfinished.0 > unfinished.1 }
      return place(of: left.key, names) < place(of: right.key, names)
    }
    let limit = max(0, request.limit)
    return OperationGroups(
      by: request.by, groups: Array(sorted.prefix(limit)),
      otherCount: max(0, sorted.count - limit))
  }

  private func key(
    of report: OperationReport, by grouping: OperationGroups.By
  ) -> OperationGroups.Key {
    switch grouping {
    case .kind: .kind(report.kind)
    case .queue: .queue(report.queue)
    }
  }

  /// Returns the values by which groups with equally many unfinished operations are sorted. Queues may have the same
  /// name.
  private func place(
    of key: OperationGroups.Key, _ names: [QueueReport.ID: String]
  ) -> (title: String, queue: UInt64) {
    switch key {
    case .kind(let kind): (kind, 0)
    case .queue(let id): (names[id] ?? "", id.rawValue)
    }
  }

  // MARK: Times

  /// Returns the statistics of the recent slot waits and run times of each queue.
  func queueTimes(at now: MonitorTime) -> [QueueReport.ID: TimeStatistics] {
    recentTimes(\.queue, at: now).mapValues(\.statistics)
  }

  private func recentTimes<Key: Hashable>(
    _ key: (OperationReport) -> Key, at now: MonitorTime
  ) -> [Key: RecordedTimes] {
    var times: [Key: RecordedTimes] = [:]
    let earliest = now - Self.recentTime
    for report in state.operations.all {
      guard let started = report.started, let finished = report.finished, finished > earliest,
        !report.neverRan
      else { continue }
      let wait = report.becameReady.map { started - $0 }
      times[key(report), default: RecordedTimes()].add(wait: wait, run: finished - started)
    }
    return times
  }
}

/// The slot waits and run times of some recorded operations.
private struct RecordedTimes {
  private var waits: [Duration] = []
  private var runs: [Duration] = []

  mutating func add(wait: Duration?, run: Duration) {
    if let wait { waits.append(max(.zero, wait)) }
    runs.append(max(.zero, run))
  }

  var statistics: TimeStatistics {
    TimeStatistics(wait: Percentiles(of: waits), run: Percentiles(of: runs))
  }

  /// The number of run times in each of the ranges of ``OperationGroups/bucketBounds``.
  var runBuckets: [Int] {
    var buckets = Array(repeating: 0, count: OperationGroups.bucketCount)
    for run in runs { buckets[OperationGroups.bucket(of: run)] += 1 }
    return buckets
  }
}

extension Percentiles {
  /// Creates the exact distribution of durations; `nil` if there are none.
  fileprivate init?(of durations: [Duration]) {
    if durations.isEmpty { return nil }
    let sorted = durations.sorted()
    func value(_ percentage: Int) -> Duration { sorted[(sorted.count - 1) * percentage / 100] }
    self.init(count: sorted.count, p50: value(50), p90: value(90), p99: value(99))
  }
}
