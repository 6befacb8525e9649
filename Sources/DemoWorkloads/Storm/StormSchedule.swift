// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when blocks of the storm are added, as a value.
///
/// The storm is first filled to its size as fast as possible. From then on finished operations are replaced,
/// so that a million operations exist at a time. A run with `isOnce` replaces none.
struct StormSchedule: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// Add the blocks with these numbers, and call the schedule again at once.
    case add(Range<Int>)
    /// Call the schedule again later.
    case rest
    /// The run with `isOnce` has finished.
    case finish
  }

  /// How many blocks are added at a time: about ten milliseconds of work.
  static let slice = 10

  private let blockLimit: Int
  private let isOnce: Bool
  private var addedCount = 0

  /// - Parameters:
  ///   - blockLimit: The number of blocks of a complete storm; above 0.
  ///   - isOnce: Whether the storm ends when all its operations have finished.
  init(blockLimit: Int, isOnce: Bool) {
    self.blockLimit = blockLimit
    self.isOnce = isOnce
  }

  /// Returns the next action for a number of unfinished operations.
  mutating func next(unfinished: Int) -> Action {
    // A block with an unfinished operation counts as a whole block.
    let left = (unfinished + StormBlock.size - 1) / StormBlock.size
    let missing = blockLimit - (isOnce ? addedCount : left)
    guard missing > 0 else { return isOnce && unfinished == 0 ? .finish : .rest }
    let blocks = addedCount..<addedCount + min(missing, Self.slice)
    addedCount = blocks.upperBound
    return .add(blocks)
  }
}
