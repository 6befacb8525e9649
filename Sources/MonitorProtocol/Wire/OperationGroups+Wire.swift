// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireGroups {
  init(_ groups: OperationGroups) {
    self.init()
    by = By(groups.by)
    self.groups = groups.groups.map { WireGroup($0) }
    otherCount = Int64(groups.otherCount)
  }
}

extension OperationGroups {
  /// Creates groups from a message; `nil` if this version does not know the value by which they are grouped. If the
  /// message has too many groups, as many are kept as are necessary for ``UpdateAssembler`` to refuse the update.
  init?(_ wire: WireGroups) {
    guard let by = By(wire.by) else { return nil }
    self.init(
      by: by, groups: wire.groups.prefix(WireLimits.mostGroups + 1).map { Group($0, by: by) },
      otherCount: Int(wireCount: wire.otherCount))
  }
}

extension WireGroup {
  init(_ group: OperationGroups.Group) {
    self.init()
    switch group.key {
    case .kind(let kind): self.kind = kind.wireText
    case .queue(let queue): self.queue = queue.rawValue
    }
    counts = WireCounts(group.counts)
    endedCount = Int64(group.endedCount)
    if group.times != TimeStatistics() { times = WireTimes(group.times) }
    runBuckets = group.runBuckets.prefix(OperationGroups.bucketCount).map { UInt32(clamping: $0) }
  }
}

extension OperationGroups.Group {
  /// Creates a group from a message. A list of run times with a wrong length is extended by zeros, or only its first
  /// numbers are kept.
  init(_ wire: WireGroup, by: OperationGroups.By) {
    let count = OperationGroups.bucketCount
    let buckets = wire.runBuckets.prefix(count).map { Int($0) }
    self.init(
      key: by == .kind ? .kind(wire.kind.wireText) : .queue(.init(wire.queue)),
      counts: StateCounts(wire.counts), endedCount: Int(wireCount: wire.endedCount),
      times: TimeStatistics(wire.times),
      runBuckets: buckets.isEmpty
        ? [] : buckets + Array(repeating: 0, count: count - buckets.count))
  }
}

extension WireGroups.By {
  init(_ by: OperationGroups.By) {
    self =
      switch by {
      case .kind: .kind
      case .queue: .queue
      }
  }
}

extension OperationGroups.By {
  init?(_ wire: WireGroups.By) {
    switch wire {
    case .kind: self = .kind
    case .queue: self = .queue
    case .unspecified, .UNRECOGNIZED: return nil
    }
  }
}

extension WireInterest.GroupsRequest {
  init(_ request: Interest.GroupsRequest) {
    self.init()
    by = WireGroups.By(request.by)
    limit = Int64(request.limit.clamped(to: 0...WireLimits.mostGroups))
  }
}

extension Interest.GroupsRequest {
  /// Creates a request from a message; `nil` if this version does not know the value by which to group.
  init?(_ wire: WireInterest.GroupsRequest) throws(WireError) {
    let limit = try checked(wire.limit, in: 0...WireLimits.mostGroups, "a limit of groups")
    guard let by = OperationGroups.By(wire.by) else { return nil }
    self.init(by: by, limit: limit)
  }
}
