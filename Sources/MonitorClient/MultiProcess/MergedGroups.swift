// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationGroups {
  /// Combines the groups of several processes; `nil` if no process has sent the requested groups. The operations of the
  /// same kind in different processes are one group.
  ///
  /// A group lacks the operations of a process that has so many groups that it has not sent this one. If several
  /// processes have further groups by kind, some of these may be the same, or may be among the sent groups of another
  /// process. Then ``otherCount`` is the smallest possible number, if each process counts all of its groups.
  ///
  /// - Parameters:
  ///   - parts: The groups of each process. Groups by another value than the requested one are ignored.
  ///   - request: The request of the viewer.
  ///   - ends: The operations that have ended while the viewer has watched the processes.
  init?(merging parts: [OperationGroups], for request: Interest.GroupsRequest, ends: MergedEnds) {
    let parts = parts.filter { $0.by == request.by }
    if parts.isEmpty { return nil }
    var merged: [Group] = []
    var indices: [Key: Int] = [:]
    var keysWithSeveralTimes: Set<Key> = []
    for group in parts.lazy.flatMap(\.groups) {
      if let index = indices[group.key] {
        if merged[index].hasTimes, group.hasTimes { keysWithSeveralTimes.insert(group.key) }
        merged[index].add(group)
      } else {
        indices[group.key] = merged.count
        merged.append(group)
      }
    }
    for index in merged.indices {
      let key = merged[index].key
      merged[index].endedCount = ends.count(of: key)
      merged[index].lacksEnds = ends.incomplete.contains(key)
      // The percentiles of several processes together cannot be computed from the percentiles of each process.
      if keysWithSeveralTimes.contains(key) { merged[index].times = TimeStatistics() }
    }
    // Sorting is stable: groups with equally many unfinished operations keep the order of the processes.
    merged.sort { $0.counts.unfinished > $1.counts.unfinished }
    let sums = parts.map { $0.groups.count.addingSaturating($0.otherCount) }
    let total =
      request.by == .kind
      ? max(merged.count, sums.max() ?? 0) : sums.reduce(0) { $0.addingSaturating($1) }
    let shown = merged.prefix(max(0, request.limit))
    self.init(by: request.by, groups: Array(shown), otherCount: total - shown.count)
  }

  /// The groups of a process that has ended. Its unfinished operations cannot continue, so they do not count.
  var over: OperationGroups {
    var over = self
    for index in over.groups.indices { over.groups[index].counts = groups[index].counts.over }
    over.groups.removeAll { $0.counts.total == 0 }
    return over
  }
}

extension OperationGroups.Group {
  fileprivate var hasTimes: Bool { times != TimeStatistics() }

  /// Adds the operations of another process with the same kind.
  fileprivate mutating func add(_ other: Self) {
    counts = counts + other.counts
    if runBuckets.isEmpty {
      runBuckets = other.runBuckets
    } else if !other.runBuckets.isEmpty {
      runBuckets = zip(runBuckets, other.runBuckets).map { $0.addingSaturating($1) }
    }
    if !hasTimes { times = other.times }
  }
}

/// The operations of each group that have ended while the viewer has watched their processes.
///
/// A process may send a group for the first time at any moment, and again after an interruption. Its operations that
/// have ended before do not count, because the sum of all processes would then grow as if they had ended at that moment.
/// If a process stops sending a group, it is unknown how many of its operations have ended last.
struct MergedEnds {
  /// The number of ended operations in the last groups of each process.
  private var last: [Int: [OperationGroups.Key: Int]] = [:]
  /// The numbers of the processes whose connection has changed since their last update. The viewer may lack updates of them.
  private var interrupted: Set<Int> = []
  private var counts: [OperationGroups.Key: Int] = [:]
  /// The groups whose counts may lack operations that have ended since the last update to the viewer.
  private(set) var incomplete: Set<OperationGroups.Key> = []

  /// Returns the number of operations of a group that have ended.
  func count(of key: OperationGroups.Key) -> Int { counts[key] ?? 0 }

  /// Counts the operations that have ended since the previous update of a process.
  mutating func take(_ groups: OperationGroups?, from process: Int) {
    let old = last[process] ?? [:]
    let new = Dictionary(
      (groups?.groups ?? []).map { ($0.key, $0.endedCount) },
      uniquingKeysWith: { first, _ in first })
    let isInterrupted = interrupted.remove(process) != nil
    for (key, count) in new {
      guard let before = old[key], !isInterrupted else {
        incomplete.insert(key)
        continue
      }
      let increase = max(0, count.subtractingSaturating(before))
      counts[key] = self.count(of: key).addingSaturating(increase)
    }
    last[process] = new.isEmpty ? nil : new
    for key in old.keys where new[key] == nil {
      incomplete.insert(key)
      if !last.values.contains(where: { $0[key] != nil }) { counts[key] = nil }
    }
  }

  /// Notes that the viewer receives an update.
  mutating func beginUpdate() { incomplete = [] }

  /// Notes that updates of a process may be missing before its next one.
  mutating func interrupt(_ process: Int) { interrupted.insert(process) }
}
