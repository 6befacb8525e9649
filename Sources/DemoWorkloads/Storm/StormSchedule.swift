// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when blocks of operations are added in the demo with a million operations (the storm). The
/// schedule is a value type.
///
/// At first, blocks are added as fast as possible until the storm has its full size. After that, finished
/// operations are replaced, so that a million operations exist at a time. If `isOnce` is `true`, finished
/// operations are not replaced.
struct StormSchedule: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// The workload must add the blocks with these numbers, and call the schedule again at once.
    case add(Range<Int>)
    /// The workload must add no block of operations now, and call the schedule again later.
    case rest
    /// The workload, which runs only once (`isOnce`), has finished.
    case finish
  }

  /// The maximum number of blocks that one step adds. Adding this number of blocks takes about ten
  /// milliseconds.
  static let slice = 10

  private let blockLimit: Int
  private let isOnce: Bool
  private var addedCount = 0

  /// Creates a schedule that has not added any operations.
  ///
  /// - Parameters:
  ///   - blockLimit: The number of blocks in a storm of full size; above 0.
  ///   - isOnce: Whether the storm ends when all its operations have finished.
  init(blockLimit: Int, isOnce: Bool) {
    self.blockLimit = blockLimit
    self.isOnce = isOnce
  }

  /// Returns the next action for a number of unfinished operations.
  mutating func next(unfinished: Int) -> Action {
    // The number of unfinished blocks is rounded up: a block with at least one unfinished operation counts as
    // a whole block.
    let left = (unfinished + StormBlock.size - 1) / StormBlock.size
    let missing = blockLimit - (isOnce ? addedCount : left)
    guard missing > 0 else { return isOnce && unfinished == 0 ? .finish : .rest }
    let blocks = addedCount..<addedCount + min(missing, Self.slice)
    addedCount = blocks.upperBound
    return .add(blocks)
  }
}
