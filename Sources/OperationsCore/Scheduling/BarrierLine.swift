// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The unfinished barriers of a queue, in the order of addition, and the ready operations behind
/// each barrier.
///
/// Barriers divide a queue's operations into segments, which run one after the other. Only
/// operations of the front segment may start. When all operations of the front segment have left
/// the queue, the barrier behind them may start. Operations are not linked to a barrier: a barrier
/// is due when the number of operations before it is zero. So adding a barrier costs the same for
/// any contents of the queue.
///
/// The ready operations of a segment are stored in bands, which are lists with one priority each.
/// The scheduler stores the bands of the front segment. This type stores the bands of the segment
/// behind each barrier. A queue without barriers has only its front segment, and the only cost is
/// the comparison of one byte, because the code for barriers is not inlined.
struct BarrierLine {
  /// The state of the first barrier.
  enum Front: UInt8, Equatable, Sendable {
    /// The queue has no barrier.
    case none
    /// The first barrier waits for operations before it that have not left the queue.
    case blocked
    /// The first barrier waits only for a slot. No operation may start before the barrier.
    case due
    /// The first barrier executes. No operation may start until the barrier has finished.
    case running
  }

  private struct Barrier {
    let operation: Unmanaged<Operation>
    /// The number of unfinished operations between the previous barrier and this one. For the first
    /// barrier, it is the number of all unfinished operations before it.
    var unfinishedAhead: Int
    /// The ready operations between this barrier and the next one.
    var readyBehind = ReadyBands()
    /// The number of ready operations in `readyBehind`.
    var readyBehindCount = 0
  }

  private(set) var front = Front.none
  /// The serial number of the last segment, to which new operations are added. A segment is the
  /// part of the queue between two barriers.
  private(set) var lastSegment: QueuePlace.Segment
  /// The barriers, in the order of addition. The barriers before index `start` have finished. With
  /// this index, the first barrier is removed in constant time.
  private var barriers: [Barrier] = []
  private var start = 0
  /// The number of operations that have not left the queue and are before the last barrier.
  private var unfinishedBeforeLast = 0
  /// The number of ready operations that are behind at least one barrier.
  private(set) var heldBackCount = 0

  init(lastSegment: QueuePlace.Segment = QueuePlace.Segment()) { self.lastSegment = lastSegment }

  var isEmpty: Bool { front == .none }

  /// The number of unfinished barriers.
  var count: Int { barriers.count - start }

  // MARK: Barriers

  /// Adds a barrier behind all operations of the queue.
  ///
  /// - Parameters:
  ///   - barrier: The barrier.
  ///   - unfinished: The number of operations in the queue, without barriers.
  @inline(never)
  mutating func append(_ barrier: Unmanaged<Operation>, unfinished: Int) {
    precondition(
      barriers.count - start < QueuePlace.Segment.limit - 1, "Too many barriers in one queue")
    let ahead = unfinished - unfinishedBeforeLast
    barriers.append(Barrier(operation: barrier, unfinishedAhead: ahead))
    lastSegment = lastSegment.next
    unfinishedBeforeLast += ahead
    if isEmpty { settleFront() }
  }

  /// Records that the first barrier has started.
  ///
  /// - Precondition: The first barrier is due, which means that it waits only for a slot.
  @inline(never)
  mutating func startFirst() -> Unmanaged<Operation> {
    precondition(front == .due, "A barrier was started before its turn")
    front = .running
    return barriers[start].operation
  }

  /// Removes the first barrier, which has finished. The operations between this barrier and the
  /// next one become the front segment, whose operations may start.
  ///
  /// - Returns: The ready operations of the new front segment.
  /// - Precondition: The first barrier was started.
  @inline(never)
  mutating func finishFirst() -> ReadyBands {
    precondition(front == .running, "A barrier finished without being started")
    let ready = barriers[start].readyBehind
    heldBackCount -= barriers[start].readyBehindCount
    start += 1
    if start == barriers.count {
      barriers = []
      start = 0
    } else if start > 64, start > barriers.count / 2 {
      // The finished barriers are removed from the array together. The array moves fewer barriers
      // than it removes, so the cost per barrier is constant.
      barriers.removeFirst(start)
      start = 0
    }
    settleFront()
    return ready
  }

  private mutating func settleFront() {
    guard let first = barriers[start...].first else { return front = .none }
    front = first.unfinishedAhead == 0 ? .due : .blocked
  }

  /// The barriers, in the order of addition.
  var operations: some Sequence<Unmanaged<Operation>> {
    barriers[start...].lazy.map(\.operation)
  }

  /// Returns the ready operations between a barrier and the next one. `index` is the number of
  /// unfinished barriers before the barrier.
  func readyOperations(behind index: Int) -> ReadyBands { barriers[start + index].readyBehind }

  // MARK: Operations

  /// Returns the number of unfinished barriers before an operation.
  func countAhead(of operation: Operation) -> Int {
    barriers.count - start - lastSegment.distance(from: operation.place.segment)
  }

  /// Adds a ready operation to the list for its priority, before the first barrier or behind the
  /// last barrier that is before the operation.
  @inline(never)
  mutating func append(_ operation: Operation, front: inout ReadyBands) {
    let count = countAhead(of: operation)
    if count == 0 {
      front.append(.passUnretained(operation), to: operation.place.band)
    } else {
      barriers[start + count - 1].readyBehind.append(
        .passUnretained(operation), to: operation.place.band)
      barriers[start + count - 1].readyBehindCount += 1
      heldBackCount += 1
    }
  }

  /// Removes an operation from its band, which is a list of ready operations of one priority.
  @inline(never)
  mutating func remove(_ operation: Operation, front: inout ReadyBands) {
    let count = countAhead(of: operation)
    if count == 0 {
      front.remove(.passUnretained(operation), from: operation.place.band)
    } else {
      barriers[start + count - 1].readyBehind.remove(
        .passUnretained(operation), from: operation.place.band)
      barriers[start + count - 1].readyBehindCount -= 1
      heldBackCount -= 1
    }
  }

  /// Handles that an operation, which may be before or behind any barrier, has left the queue.
  @inline(__always)
  mutating func didLeave(_ operation: Operation) {
    // The operations of the last segment are not before any barrier, so no count changes when they
    // leave. If the queue has no barriers, all operations are in the last segment.
    if operation.place.segment != lastSegment { didLeaveAhead(operation) }
  }

  @inline(never)
  private mutating func didLeaveAhead(_ operation: Operation) {
    let index = start + countAhead(of: operation)
    barriers[index].unfinishedAhead -= 1
    unfinishedBeforeLast -= 1
    if index == start { settleFront() }
  }
}
