// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

/// The dispatch queue on which a queue's operations run, and the number of submitted blocks. Pure:
/// guarded by the queue's lock.
///
/// A block is not bound to an operation: when it begins, it takes the first operation at that
/// moment, so that priorities, cancellation, width and suspension count until then. There is a
/// block for each operation that may start. A block that finds no operation does nothing.
struct UnderlyingQueue {
  /// The maximum number of blocks that wait in the dispatch queue at a time.
  ///
  /// This is far more than the number of Dispatch's threads (255), so that it never waits for new
  /// blocks, and few enough that a million ready operations do not become a million blocks.
  static let pendingLimit = 1_024

  let queue: DispatchQueue
  /// Distinguishes this use of a dispatch queue from earlier ones, whose blocks may not have begun
  /// yet.
  let generation: UInt64
  /// The quality of service of the dispatch queue, if it has one.
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

  /// Returns the number of missing blocks if a number of operations could start at once.
  func missingCount(for startableCount: Int) -> Int {
    max(0, min(startableCount, Self.pendingLimit) - pendingCount)
  }

  /// Notes that the caller is about to submit blocks.
  mutating func willSubmit(_ count: Int) { pendingCount += count }

  /// Notes that a block has begun.
  ///
  /// - Returns: `false` if it belongs to an earlier use and must not take an operation.
  mutating func began(_ generation: UInt64) -> Bool {
    guard generation == self.generation else { return false }
    pendingCount -= 1
    return true
  }
}

extension QualityOfService {
  /// Creates the level with the same name; `nil` if there is none.
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
