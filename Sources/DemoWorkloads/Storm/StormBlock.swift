// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The plan of a block, which is a thousand operations of the demo with a million operations (the storm). The
/// plan depends only on the seed and the number of the block.
///
/// The operations form groups of ten. The last operation of each group waits for two of the nine operations
/// before it. The last operation of the block waits for all ten operations before it. No operation waits for
/// an operation of another block, so that a storm without an end retains no finished operations.
struct StormBlock: Equatable, Sendable {
  static let size = 1_000

  /// The queues of the demo with a million operations. The first operation of a block of 1,000 operations is
  /// added to the first queue, the second one to the second queue, and so on in turn.
  static let queues = ["north", "east", "south", "west"].map { WorkloadQueue(name: $0, width: 2) }

  /// The number of the block, counted from 0.
  let number: Int
  /// For each group of ten, the two operations for which the last operation of the group waits.
  private let pairs: [Pair]

  private struct Pair: Equatable, Sendable {
    let first: Int
    let second: Int
  }

  init(seed: UInt64, number: Int) {
    var generator = SeededGenerator(seed: seed, stream: UInt64(number))
    self.number = number
    pairs = (0..<Self.size / 10).map { _ in
      let first = generator.index(below: 9)
      // The second dependency is chosen from the eight operations that remain after the first choice, so that
      // the two dependencies differ.
      return Pair(first: first, second: (first + 1 + generator.index(below: 8)) % 9)
    }
  }

  /// Returns the name of the operation at a position. Names are short enough to be stored without an
  /// allocation.
  func name(at position: Int) -> String { "job \(number * Self.size + position + 1)" }

  /// Returns the positions of the dependencies of the operation at a position. They are lower than the
  /// operation's own position.
  func dependencies(of position: Int) -> [Int] {
    if position == Self.size - 1 { return Array(position - 10..<position) }
    guard position % 10 == 9 else { return [] }
    let pair = pairs[position / 10]
    return [position - 9 + pair.first, position - 9 + pair.second]
  }
}
