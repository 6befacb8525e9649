// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides when blocks of the storm are added, as a value.
///
/// It is filled to its size as fast as that goes. From then on what has finished is replaced, so
/// that a million operations stay alive; a once-run lets them dwindle away.
struct StormSchedule: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// Add the blocks of these numbers, and ask again at once.
    case add(Range<Int>)
    /// Ask again in a while.
    case rest
    /// The only storm is over.
    case finish
  }

  /// How many blocks are added at a time: some ten milliseconds' work.
  static let slice = 10

  private let blockLimit: Int
  private let isOnce: Bool
  private var addedCount = 0

  /// - Parameters:
  ///   - blockLimit: How many blocks make a whole storm; above 0.
  ///   - isOnce: Whether one storm is all.
  init(blockLimit: Int, isOnce: Bool) {
    self.blockLimit = blockLimit
    self.isOnce = isOnce
  }

  /// What to do when so many operations are unfinished.
  mutating func next(unfinished: Int) -> Action {
    // A block of which something is left counts as whole.
    let left = (unfinished + StormBlock.size - 1) / StormBlock.size
    let missing = blockLimit - (isOnce ? addedCount : left)
    guard missing > 0 else { return isOnce && unfinished == 0 ? .finish : .rest }
    let blocks = addedCount..<addedCount + min(missing, Self.slice)
    addedCount = blocks.upperBound
    return .add(blocks)
  }
}
