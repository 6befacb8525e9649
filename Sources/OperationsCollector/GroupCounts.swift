// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The numbers of the operations of a list in each state, counted for each kind and for each queue. Both are counted at
/// once, so that a viewer that changes from one to the other does not wait.
struct ListCounts {
  private var kinds = GroupCounts(by: .kind)
  private var queues = GroupCounts(by: .queue)

  /// See ``GroupCounts/mustCountAgain``.
  var mustCountAgain: Bool { kinds.mustCountAgain || queues.mustCountAgain }

  /// Returns the numbers for each kind or for each queue.
  subscript(by: OperationGroups.By) -> GroupCounts {
    switch by {
    case .kind: kinds
    case .queue: queues
    }
  }

  /// Adds an operation.
  mutating func add(_ report: OperationReport) {
    kinds.add(report)
    queues.add(report)
  }

  /// Removes an operation that was added before.
  mutating func remove(_ report: OperationReport) {
    kinds.remove(report)
    queues.remove(report)
  }

  /// Replaces the report of an operation that was added before.
  mutating func replace(_ old: OperationReport, by new: OperationReport) {
    kinds.replace(old, by: new)
    queues.replace(old, by: new)
  }
}

/// The numbers of the operations of a list in each state, counted for each kind or for each queue.
///
/// The cost of a change does not depend on the number of operations.
struct GroupCounts {
  /// The maximum number of groups whose operations are counted in each state. Of a further group, only the number of
  /// operations is counted.
  static let mostGroups = 10_000

  /// The number of operations of one group.
  private struct Group {
    /// The number of groups that were created before this one. Among groups with equally many operations, the
    /// oldest is the first, so that the order of groups does not change without a reason.
    let number: Int
    var counts = StateCounts()
  }

  let by: OperationGroups.By
  private var groups: [OperationGroups.Key: Group] = [:]
  private var createdCount = 0
  /// The number of operations of each further group. The hash value stands for the key, which needs more memory. In a
  /// program with a kind for each operation, this value takes about 24 bytes for each operation.
  private var further: [Int: UInt32] = [:]

  /// Whether a new count of the operations would give more groups: some groups are not counted, but the number of
  /// groups has decreased to less than half of the maximum.
  var mustCountAgain: Bool { !further.isEmpty && groups.count < Self.mostGroups / 2 }

  /// Creates counts without operations.
  init(by: OperationGroups.By) { self.by = by }

  /// Adds an operation.
  mutating func add(_ report: OperationReport) {
    let key = OperationGroups.Key(report, by: by)
    if groups[key]?.counts.add(report.state) != nil { return }
    // While there are further groups, no group is added, because it may be one of them.
    guard further.isEmpty, groups.count < Self.mostGroups else {
      further[key.hashValue, default: 0] += 1
      return
    }
    createdCount += 1
    groups[key, default: Group(number: createdCount)].counts.add(report.state)
  }

  /// Removes an operation that was added before.
  mutating func remove(_ report: OperationReport) {
    let key = OperationGroups.Key(report, by: by)
    guard groups[key]?.counts.remove(report.state) != nil else {
      let left = further[key.hashValue].map { $0 - 1 }
      further[key.hashValue] = left == 0 ? nil : left
      return
    }
    if groups[key]?.counts.total == 0 { groups[key] = nil }
  }

  /// Replaces the report of an operation that was added before.
  mutating func replace(_ old: OperationReport, by new: OperationReport) {
    let key = OperationGroups.Key(new, by: by)
    if key != OperationGroups.Key(old, by: by) {
      remove(old)
      add(new)
    } else if old.state != new.state {
      groups[key]?.counts.remove(old.state)
      groups[key]?.counts.add(new.state)
    }
  }

  /// Returns the groups, those with the most unfinished operations first.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of groups.
  ///   - complete: Adds the other values to a group.
  /// - Returns: The groups. Further groups exceed the limit.
  func groups(
    limit: Int, _ complete: (inout OperationGroups.Group) -> Void
  ) -> OperationGroups {
    let ranks = groups.indices.map { index in
      let group = groups.values[index]
      return (unfinished: group.counts.unfinished, number: group.number, index: index)
    }
    let sorted = ranks.sorted { ($1.unfinished, $0.number) < ($0.unfinished, $1.number) }
    let listed = sorted.prefix(max(0, limit)).map { rank in
      let (key, counted) = groups[rank.index]
      var group = OperationGroups.Group(key: key, counts: counted.counts)
      complete(&group)
      return group
    }
    return OperationGroups(
      by: by, groups: listed, otherCount: sorted.count - listed.count + further.count)
  }
}

extension OperationGroups.Key {
  /// Creates the key of the group of an operation.
  init(_ report: OperationReport, by: OperationGroups.By) {
    self =
      switch by {
      case .kind: .kind(report.kind)
      case .queue: .queue(report.queue)
      }
  }
}
