// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The place of an operation in its queue. Guarded by the queue's lock.
///
/// The place is packed into few bytes, because the size of an operation affects its cost; see
/// ``Operation``.
struct QueuePlace {
  /// The stage of an operation in its queue.
  enum Stage: UInt8, Equatable, Sendable {
    /// The operation is still in the inbox of its queue, and the queue has not read it yet.
    case outside
    /// The operation waits for dependencies, or for its own `isReady`.
    case waiting
    /// The operation is ready, and is in one of the bands, which are lists of ready operations.
    case ready
    /// The operation was chosen to be started. It holds a slot until it has finished.
    case executing
    /// The operation has left the queue, but is in the inbox again.
    case lingering
    /// The operation has left the queue permanently.
    case gone

    /// The state of an operation at this stage.
    var state: OperationState {
      switch self {
      case .outside, .waiting: .waiting
      case .ready: .ready
      case .executing: .executing
      case .lingering, .gone: .finished
      }
    }
  }

  /// The place of an operation in its queue, as bits. Bits 0–2 contain the stage, and bits 3–5 the
  /// band (the list of ready operations of one priority). Bit 6 is set if the operation was counted
  /// as cancelling, and bit 7 if it is withheld. Bits 8–31 contain the segment (the part of the queue between two barriers).
  private var bits: UInt32 = 0

  var stage: Stage {
    @inline(__always)
    get { Stage(rawValue: UInt8(truncatingIfNeeded: bits & 0b111)).unsafelyUnwrapped }
    @inline(__always)
    set { bits = bits & ~0b111 | UInt32(newValue.rawValue) }
  }

  /// Whether the operation has not left its queue.
  var isInQueue: Bool { stage.rawValue < Stage.lingering.rawValue }

  /// The band that contains the operation. A band is a list of ready operations of one priority.
  /// The value is valid while `stage` is `ready`.
  var band: UInt8 {
    @inline(__always)
    get { UInt8(truncatingIfNeeded: bits >> 3 & 0b111) }
    @inline(__always)
    set { bits = bits & ~(0b111 << 3) | UInt32(newValue) << 3 }
  }

  /// Whether the operation was counted as a cancelled, unfinished operation.
  var isCountedAsCancelling: Bool {
    @inline(__always)
    get { bits & 1 << 6 != 0 }
    @inline(__always)
    set { bits = newValue ? bits | 1 << 6 : bits & ~(1 << 6) }
  }

  /// Whether the queue must not start the operation unless it is cancelled, because a thread is about
  /// to cancel it.
  var isWithheld: Bool {
    @inline(__always)
    get { bits & 1 << 7 != 0 }
    set { bits = newValue ? bits | 1 << 7 : bits & ~(1 << 7) }
  }

  /// The segment of the operation, which is the part of the queue between two barriers. The number
  /// of the segment is the number of all barriers that were added before the operation.
  var segment: Segment {
    @inline(__always)
    get { Segment(rawValue: bits >> 8) }
    @inline(__always)
    set { bits = bits & 0xff | newValue.rawValue << 8 }
  }

  /// The serial number of a segment of a queue. The numbers wrap around, so that they need few
  /// bits.
  struct Segment: Equatable {
    let rawValue: UInt32

    /// The maximum number of segments of a queue, which barriers separate, that have different
    /// numbers at the same time.
    static let limit = 1 << 24

    init() { rawValue = 0 }
    init(rawValue: UInt32) { self.rawValue = rawValue & UInt32(Self.limit - 1) }

    var next: Segment { Segment(rawValue: rawValue &+ 1) }

    /// Returns how many segments of the queue, which barriers separate, this segment is behind
    /// `other`. This segment must not be before `other`.
    func distance(from other: Segment) -> Int {
      Int(Segment(rawValue: rawValue &- other.rawValue).rawValue)
    }
  }
}

/// The links of an operation in the lists of its queue. The references are unmanaged, because the queue
/// retains each operation exactly once.
struct QueueNeighbours {
  /// The links in one list.
  struct Pair {
    var previous: Unmanaged<Operation>?
    var next: Unmanaged<Operation>?
  }

  /// The links in the list of all operations of the queue.
  var inQueue = Pair()
  /// The links in the list of the ready operations of one priority.
  var inBand = Pair()
}
