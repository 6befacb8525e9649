// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

/// The dispatch queue on which a queue's operations run, and the number of submitted blocks.
/// Guarded by the queue's lock.
///
/// A block is not bound to an operation. When a block begins, it takes the operation that is first
/// at that moment. So changes of priorities, cancellation, width and suspension have an effect
/// until the block begins. One block is submitted for each operation that may start. A block that
/// finds no operation does nothing.
struct UnderlyingQueue {
  /// The maximum number of blocks that wait in the dispatch queue at a time.
  ///
  /// The limit is far above the number of Dispatch's threads (255), so that Dispatch never waits
  /// for new blocks. The limit is low enough that a million ready operations do not become a
  /// million blocks.
  static let pendingLimit = 1_024

  let queue: DispatchQueue
  /// A number that distinguishes this use of a dispatch queue from earlier uses of a dispatch queue
  /// by the same operation queue. Blocks of an earlier use may not have begun yet.
  let generation: UInt64
  /// The quality of service of the dispatch queue, if it has one.
  let qualityOfService: QualityOfService?
  /// Whether the dispatch queue is the main dispatch queue.
  let isMain: Bool
  /// The number of blocks that were submitted to the dispatch queue and have not begun.
  private(set) var pendingCount = 0

  init(_ queue: DispatchQueue, generation: UInt64) {
    self.queue = queue
    self.generation = generation
    qualityOfService = QualityOfService(queue.qos.qosClass)
    isMain = MainDispatchQueue.isSame(as: queue)
  }

  /// Returns the number of blocks to submit to the dispatch queue so that `startableCount`
  /// operations can start.
  func missingCount(for startableCount: Int) -> Int {
    max(0, min(startableCount, Self.pendingLimit) - pendingCount)
  }

  /// Records that the caller is about to submit blocks to the dispatch queue.
  mutating func willSubmit(_ count: Int) { pendingCount += count }

  /// Records that a block that was submitted to the dispatch queue has begun.
  ///
  /// - Returns: `false` if the block was submitted for an earlier use of a dispatch queue. Such a
  ///   block must not take an operation.
  mutating func began(_ generation: UInt64) -> Bool {
    guard generation == self.generation else { return false }
    pendingCount -= 1
    return true
  }
}

extension QualityOfService {
  /// Creates the quality of service with the same name as a quality-of-service class of Dispatch;
  /// `nil` if no quality of service has that name.
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
