// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationGroups {
  /// Combines the groups of several processes; `nil` if no process has sent the requested groups. The operations of the
  /// same kind in different processes are one group.
  ///
  /// - Parameters:
  ///   - parts: The groups of each process. Groups by another value than the requested one are ignored.
  ///   - request: The request of the viewer.
  init?(merging parts: [OperationGroups], for request: Interest.GroupsRequest) {
    let parts = parts.filter { $0.by == request.by }
    if parts.isEmpty { return nil }
    var merged: [Group] = []
    var indices: [Key: Int] = [:]
    for group in parts.lazy.flatMap(\.groups) {
      if let index = indices[group.key] {
        merged[index].add(group)
      } else {
        indices[group.key] = merged.count
        merged.append(group)
      }
    }
    // Sorting is stable: groups with equally many unfinished operations keep the order of the processes.
    merged.sort { $0.counts.unfinished > $1.counts.unfinished }
    let excess = max(0, merged.count - max(0, request.limit))
    let others = parts.reduce(excess) { $0.addingSaturating($1.otherCount) }
    self.init(by: request.by, groups: merged.dropLast(excess), otherCount: others)
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
  /// Adds the operations of another process with the same kind.
  fileprivate mutating func add(_ other: Self) {
    counts = counts + other.counts
    endedCount = endedCount.addingSaturating(other.endedCount)
    if runBuckets.isEmpty {
      runBuckets = other.runBuckets
    } else if !other.runBuckets.isEmpty {
      runBuckets = zip(runBuckets, other.runBuckets).map { $0.addingSaturating($1) }
    }
    // The percentiles of several processes together cannot be computed from the percentiles of each process. The
    // statistics with more operations are used.
    if (other.times.run?.count ?? 0) > (times.run?.count ?? 0) { times = other.times }
  }
}
