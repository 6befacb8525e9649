// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The recent slot waits and run times of all operations together, of each kind, and of each queue.
struct TimeHistograms {
  /// The maximum number of kinds with their own statistics. Each kind needs 16 kB.
  static let kindLimit = 256
  /// The maximum number of queues with their own statistics. Each queue needs 16 kB.
  static let queueLimit = 256
  /// The maximum number of kinds whose ended operations are counted. If there are more, the counts of those kinds that
  /// have ended least recently are removed.
  static let countedKindLimit = 10_000

  private struct Kind {
    /// The number of operations of the kind that have ended.
    var endedCount = 0
    /// The number of operations of all kinds that had ended when the last operation of this kind ended.
    var lastEnd = 0
    /// The times of the kind; `nil` if no time is known, or if too many kinds have times.
    var times: GroupTimes?
  }

  private var all = RecentTimes(.fine)
  private var kinds: [String: Kind] = [:]
  private var timedKindCount = 0
  private var endedCount = 0
  /// The times of each queue; `nil` while no viewer requests them.
  private var queues: [QueueReport.ID: GroupTimes]?

  /// Adds the times of an operation that has ended. The times of an operation that never ran, or whose start is
  /// unknown, are ignored.
  mutating func note(_ report: OperationReport) {
    let hasTimes = report.started != nil && report.finished != nil && !report.neverRan
    if hasTimes {
      all.note(report)
      noteTimesOfQueue(report)
    }
    let kind = report.kind
    let index: Dictionary<String, Kind>.Index
    if let known = kinds.index(forKey: kind) {
      index = known
    } else {
      if kinds.count >= Self.countedKindLimit { removeOldKinds() }
      kinds[kind] = Kind()
      guard let new = kinds.index(forKey: kind) else { return }
      index = new
    }
    endedCount += 1
    kinds.values[index].endedCount += 1
    kinds.values[index].lastEnd = endedCount
    guard hasTimes else { return }
    if kinds.values[index].times == nil {
      guard timedKindCount < Self.kindLimit else { return }
      timedKindCount += 1
      kinds.values[index].times = GroupTimes()
    }
    kinds.values[index].times?.note(report)
  }

  /// Removes half of the kinds without times: those whose last operation ended the longest time ago.
  private mutating func removeOldKinds() {
    let ends = kinds.values.lazy.filter { $0.times == nil }.map(\.lastEnd).sorted()
    guard !ends.isEmpty else { return }
    let last = ends[ends.count / 2]
    kinds = kinds.filter { $0.value.times != nil || $0.value.lastEnd > last }
  }

  private mutating func noteTimesOfQueue(_ report: OperationReport) {
    guard let count = queues?.count else { return }
    if count >= Self.queueLimit, queues?[report.queue] == nil { return }
    queues?[report.queue, default: GroupTimes()].note(report)
  }

  /// Begins or ends the statistics of queues. Without a viewer that requests them, they cost nothing.
  ///
  /// - Parameters:
  ///   - isWanted: Whether a viewer requests the statistics.
  ///   - recent: The operations that have ended recently, the oldest first. The statistics begin with their times.
  mutating func keepQueues(_ isWanted: Bool, recent: () -> [OperationReport]) {
    guard isWanted != (queues != nil) else { return }
    queues = isWanted ? [:] : nil
    guard isWanted else { return }
    for report in recent()
    where report.started != nil && report.finished != nil && !report.neverRan {
      noteTimesOfQueue(report)
    }
  }

  /// Removes the statistics of queues that no longer exist.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    guard let known = queues?.keys, !known.allSatisfy(ids.contains) else { return }
    queues = queues?.filter { ids.contains($0.key) }
  }

  /// The statistics of the recent slot waits and run times of all operations together.
  var statistics: TimeStatistics { all.statistics }

  /// Returns the times of a group of operations; `nil` if no times are known.
  func times(of key: OperationGroups.Key) -> GroupTimes? {
    switch key {
    case .kind(let kind): kinds[kind]?.times
    case .queue(let queue): queues?[queue]
    }
  }

  /// Returns the number of recorded operations of a kind that have ended. It begins at 0 again after operations of very
  /// many other kinds have ended.
  func endedCount(ofKind kind: String) -> Int { kinds[kind]?.endedCount ?? 0 }
}

/// The recent slot waits and run times of some operations.
struct RecentTimes {
  private var wait: RecentDurations
  private var run: RecentDurations

  init(_ precision: RecentDurations.Precision) {
    wait = RecentDurations(precision)
    run = wait
  }

  /// Adds the times of an operation that has ended.
  ///
  /// - Returns: The number of generations of run times that have ended; see ``RecentDurations/note(_:at:)``. `nil` if the
  ///   run time of the operation is unknown.
  @discardableResult
  mutating func note(_ report: OperationReport) -> Int? {
    guard let started = report.started, let finished = report.finished else { return nil }
    let endedCount = run.note(finished - started, at: finished)
    if let ready = report.becameReady { wait.note(started - ready, at: finished) }
    return endedCount
  }

  var statistics: TimeStatistics {
    TimeStatistics(wait: wait.percentiles, run: run.percentiles)
  }
}

/// The recent times of the operations of one kind or queue, and the number of run times in each range.
struct GroupTimes {
  private typealias Buckets = InlineArray<16, UInt32>

  private var times = RecentTimes(.coarse)
  private var current = Buckets(repeating: 0)
  private var previous = Buckets(repeating: 0)
  /// The number of operations whose times were added. If it has not changed, the statistics have not changed either.
  private(set) var count = 0

  /// Adds the times of an operation that has ended.
  mutating func note(_ report: OperationReport) {
    guard let started = report.started, let finished = report.finished,
      let endedCount = times.note(report)
    else { return }
    count += 1
    if endedCount > 0 {
      previous = endedCount > 1 ? Buckets(repeating: 0) : current
      current = Buckets(repeating: 0)
    }
    current[OperationGroups.bucket(of: finished - started)] += 1
  }

  var statistics: TimeStatistics { times.statistics }

  /// The number of recent run times in each of the ranges of ``OperationGroups/bucketBounds``.
  var runBuckets: [Int] { current.indices.map { Int(current[$0]) + Int(previous[$0]) } }
}
