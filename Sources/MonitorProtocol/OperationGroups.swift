// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The groups of the operations in the list. Each operation of the list belongs to one group.
public struct OperationGroups: Sendable, Equatable {
  /// The value by which operations are grouped.
  public enum By: Sendable, Hashable, CaseIterable {
    /// Operations with the same ``OperationReport/kind`` are a group.
    case kind
    /// The operations of a queue are a group.
    case queue
  }

  /// The value that the operations of a group have in common. It identifies the group.
  public enum Key: Sendable, Hashable {
    /// The kind of the operations, unsanitised and at most 4 KiB of UTF-8.
    case kind(String)
    /// The queue of the operations.
    case queue(QueueReport.ID)
  }

  /// The operations with the same kind or the same queue.
  public struct Group: Sendable, Equatable, Identifiable {
    /// The value that the operations have in common.
    public var key: Key
    /// The number of the group's operations in the list in each state. ``StateCounts/total`` is their number.
    public var counts: StateCounts
    /// The number of all operations of the group that have ended since monitoring began, also if they are not in the
    /// list. Of a kind, it has only the operations that were recorded: a process does not record each operation of a
    /// queue that is very quick. Of several processes together, it has only the operations that have ended while the
    /// viewer has received the group from their process.
    ///
    /// The number of a kind begins at 0 again if operations of thousands of other kinds have ended since the last
    /// operation of this kind ended.
    public var endedCount: Int
    /// Whether ``endedCount`` may lack operations that have ended since the previous update. The viewer sets this value
    /// if it watches several processes as one; a process does not send it.
    package var lacksEnds = false
    /// The statistics of the recent slot waits and run times of all operations of the group, also if they are not in
    /// the list. Of several processes together, they are known only if a single one has sent times of the group.
    public var times: TimeStatistics
    /// The number of recent run times in each of the ranges of ``OperationGroups/bucketBounds``:
    /// ``OperationGroups/bucketCount`` numbers, or none if the run times are unknown. They cover the same operations
    /// as ``times``. Of several processes together, they are the sums, also if ``times`` is not known.
    public var runBuckets: [Int]

    /// The value that identifies the group.
    public var id: Key { key }

    /// Creates a group. By default, no times are known.
    public init(
      key: Key, counts: StateCounts = StateCounts(), endedCount: Int = 0,
      times: TimeStatistics = TimeStatistics(), runBuckets: [Int] = []
    ) {
      self.key = key
      self.counts = counts
      self.endedCount = endedCount
      self.times = times
      self.runBuckets = runBuckets
    }
  }

  /// The number of ranges of run times.
  public static let bucketCount = 16

  /// The upper bounds of all ranges of run times except the last one, which has none: 1 µs, 4 µs, 16 µs and so on, up
  /// to 268.435456 s. A run time that equals a bound belongs to the next range. A process always uses these bounds.
  public static let bucketBounds = (0..<bucketCount - 1).map {
    Duration.microseconds(1 << (2 * $0))
  }

  /// Returns the index of the range that contains a run time, from 0 on.
  package static func bucket(of time: Duration) -> Int {
    let microseconds = time.saturatedNanoseconds / 1_000
    if microseconds < 1 { return 0 }
    // Each range is four times as long as the previous one, which is two bits.
    let highestBit = Int64.bitWidth - 1 - microseconds.leadingZeroBitCount
    return min(highestBit / 2 + 1, bucketCount - 1)
  }

  /// The value by which the operations are grouped.
  public var by: By
  /// The groups. A process sends those with the most unfinished operations first. Each key is in the list once.
  public var groups: [Group]
  /// The number of groups that exceed the limit of the request.
  public var otherCount: Int
  /// The number of watched processes whose operations are not in the groups because they have not been counted yet. The
  /// viewer sets this value if it watches several processes as one; a process does not send it.
  package var countingProcessCount = 0

  /// Creates a list of groups. By default, it is empty.
  public init(by: By, groups: [Group] = [], otherCount: Int = 0) {
    self.by = by
    self.groups = groups
    self.otherCount = otherCount
  }
}
