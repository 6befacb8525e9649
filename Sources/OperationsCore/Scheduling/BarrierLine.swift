// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The barriers of a queue that have not finished, in the order of addition, and what may start
/// once each of them has.
///
/// Barriers cut a queue's operations into segments, which take turns: only operations of the front
/// one may start, and when all of them have left the queue, the barrier behind them may. Nothing is
/// linked to a barrier: it is due when the count of what is ahead of it is zero, so that adding one
/// costs the same whatever the queue holds.
///
/// The bands of the front segment are the scheduler's own; those of the segment behind each barrier
/// are here. A queue without barriers has its front segment alone, and pays one byte's comparison:
/// what follows from there is kept out of line.
struct BarrierLine {
  /// What the first barrier waits for.
  enum Front: UInt8, Equatable, Sendable {
    /// There is no barrier.
    case none
    /// Operations ahead of it have not left.
    case blocked
    /// A slot. Nothing else may start.
    case due
    /// Its own end. Nothing else may start.
    case running
  }

  private struct Barrier {
    let operation: Unmanaged<Operation>
    /// How many operations between the barrier before, or the front, and this one have not left.
    var unfinishedAhead: Int
    /// The ready operations between this barrier and the next.
    var readyBehind = ReadyBands()
    /// How many those are.
    var readyBehindCount = 0
  }

  private(set) var front = Front.none
  /// The number of the segment that what is added now is in.
  private(set) var lastSegment: QueuePlace.Segment
  /// Those before `start` have finished: so the first is taken off in constant time.
  private var barriers: [Barrier] = []
  private var start = 0
  /// Operations that have not left the queue and are in another segment than the last.
  private var unfinishedBeforeLast = 0
  /// How many ready operations are behind a barrier.
  private(set) var heldBackCount = 0

  init(lastSegment: QueuePlace.Segment = QueuePlace.Segment()) { self.lastSegment = lastSegment }

  var isEmpty: Bool { front == .none }

  /// How many have not finished.
  var count: Int { barriers.count - start }

  /// How many have finished, ever, as a number that wraps around: that of the front segment.
  var finishedCount: UInt32 {
    QueuePlace.Segment(rawValue: lastSegment.rawValue &- UInt32(count)).rawValue
  }

  // MARK: Barriers

  /// A barrier was added behind everything that the queue holds.
  ///
  /// - Parameters:
  ///   - barrier: The barrier.
  ///   - unfinished: How many operations the queue holds, without barriers.
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

  /// Starts the first barrier.
  ///
  /// - Precondition: It is due.
  @inline(never)
  mutating func startFirst() -> Unmanaged<Operation> {
    precondition(front == .due, "A barrier was started before its turn")
    front = .running
    return barriers[start].operation
  }

  /// The first barrier has finished: the segment behind it is the front now.
  ///
  /// - Returns: The ready operations of that segment.
  /// - Precondition: The first barrier was started.
  @inline(never)
  mutating func finishFirst() -> ReadyBands {
    precondition(front == .running, "A barrier finished that was not started")
    let ready = barriers[start].readyBehind
    heldBackCount -= barriers[start].readyBehindCount
    start += 1
    if start == barriers.count {
      barriers = []
      start = 0
    } else if start > 64, start > barriers.count / 2 {
      // Moves fewer than have gone since the last time.
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

  /// The ready operations right behind a barrier, given how many barriers are ahead of that one.
  func readyOperations(behind index: Int) -> ReadyBands { barriers[start + index].readyBehind }

  // MARK: Operations

  /// How many of the barriers are ahead of an operation.
  func countAhead(of operation: Operation) -> Int {
    barriers.count - start - lastSegment.distance(from: operation.place.segment)
  }

  /// Puts an operation into its band, be it in the front segment or behind a barrier.
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

  /// Takes an operation out of its band.
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

  /// An operation has left the queue, whatever its segment.
  @inline(__always)
  mutating func didLeave(_ operation: Operation) {
    // Those of the last segment are in no barrier's way: so it is where there is no barrier.
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
