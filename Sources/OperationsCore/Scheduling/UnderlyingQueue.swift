// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

/// The dispatch queue that a queue's operations run on, and how many blocks are on their way
/// through it. Pure: guarded by the queue's lock.
///
/// A block is not bound to an operation: when its turn comes it takes the one that is first then,
/// so that priorities, cancellation, width and suspension count until that moment. There is a block
/// for each operation that may start; one that finds nothing does nothing.
struct UnderlyingQueue {
  /// The most blocks that wait in the dispatch queue at a time.
  ///
  /// Far more than Dispatch has threads (255), so that it never waits for us; few enough that a
  /// million ready operations do not become a million blocks.
  static let pendingLimit = 1_024

  let queue: DispatchQueue
  /// Tells this use of a dispatch queue from earlier ones, whose blocks may still be on their way.
  let generation: UInt64
  /// The level of the dispatch queue, where it has one of its own.
  let qualityOfService: QualityOfService?
  /// Whether it is the main dispatch queue.
  let isMain: Bool
  /// Blocks that were submitted and have not begun.
  private(set) var pendingCount = 0

  init(_ queue: DispatchQueue, generation: UInt64) {
    self.queue = queue
    self.generation = generation
    qualityOfService = QualityOfService(queue.qos.qosClass)
    isMain = MainDispatchQueue.isSame(as: queue)
  }

  /// How many blocks are missing where so many operations could start at once.
  func missingCount(for startableCount: Int) -> Int {
    max(0, min(startableCount, Self.pendingLimit) - pendingCount)
  }

  /// The caller is about to submit so many blocks.
  mutating func willSubmit(_ count: Int) { pendingCount += count }

  /// A block has begun.
  ///
  /// - Returns: `false` where it belongs to an earlier use: it has no right to take anything.
  mutating func began(_ generation: UInt64) -> Bool {
    guard generation == self.generation else { return false }
    pendingCount -= 1
    return true
  }
}

extension QualityOfService {
  /// The level of the same name; `nil` for none.
  fileprivate init?(_ qosClass: DispatchQoS.QoSClass) {
    switch qosClass {
    case .background: self = .background
    case .utility: self = .utility
    case .default: self = .default
    case .userInitiated: self = .userInitiated
    case .userInteractive: self = .userInteractive
    case .unspecified: return nil
    @unknown default: return nil
    }
  }
}
