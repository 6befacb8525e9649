// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Where an operation is within its queue. Guarded by the queue's lock.
///
/// Packed, because the size of an operation decides what it costs; ``Operation`` says why.
struct QueuePlace {
  /// How far the queue has got with an operation.
  enum Stage: UInt8, Equatable, Sendable {
    /// Not taken out of the inbox yet.
    case outside
    /// Held up: by dependencies, or by its own `isReady`.
    case waiting
    /// In one of the bands.
    case ready
    /// Chosen to be started; holds a slot until it has finished.
    case executing
    /// Has left the queue, but is once more on its way through the inbox.
    case lingering
    /// Has left for good.
    case gone
  }

  var inQueue = Neighbours()
  var inBand = Neighbours()
  /// Bits 0–2: stage. 3–5: band. 6: counted as cancelling. 8–31: segment.
  private var bits: UInt32 = 0

  var stage: Stage {
    @inline(__always)
    get { Stage(rawValue: UInt8(truncatingIfNeeded: bits & 0b111)).unsafelyUnwrapped }
    @inline(__always)
    set { bits = bits & ~0b111 | UInt32(newValue.rawValue) }
  }

  /// Whether it has not left the queue.
  var isInQueue: Bool { stage.rawValue < Stage.lingering.rawValue }

  /// The band that it is in, while `stage` is `ready`.
  var band: UInt8 {
    @inline(__always)
    get { UInt8(truncatingIfNeeded: bits >> 3 & 0b111) }
    @inline(__always)
    set { bits = bits & ~(0b111 << 3) | UInt32(newValue) << 3 }
  }

  /// Whether it was counted among the cancelled ones that have not finished.
  var isCountedAsCancelling: Bool {
    @inline(__always)
    get { bits & 1 << 6 != 0 }
    @inline(__always)
    set { bits = newValue ? bits | 1 << 6 : bits & ~(1 << 6) }
  }

  /// Which of the queue's segments it is in: how many barriers, ever, were added before it.
  var segment: Segment {
    @inline(__always)
    get { Segment(rawValue: bits >> 8) }
    @inline(__always)
    set { bits = bits & 0xff | newValue.rawValue << 8 }
  }

  /// A number that wraps around, so that it takes little room.
  struct Segment: Equatable {
    let rawValue: UInt32

    /// How many there can be at the same time and be told apart.
    static let limit = 1 << 24

    init() { rawValue = 0 }
    init(rawValue: UInt32) { self.rawValue = rawValue & UInt32(Self.limit - 1) }

    var next: Segment { Segment(rawValue: rawValue &+ 1) }

    /// How many there are from `other` to this one, which is not before it.
    func distance(from other: Segment) -> Int {
      Int(Segment(rawValue: rawValue &- other.rawValue).rawValue)
    }
  }

  /// The links of one list. Unmanaged, because the queue retains each operation exactly once.
  struct Neighbours {
    var previous: Unmanaged<Operation>?
    var next: Unmanaged<Operation>?
  }
}
