// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A thousand operations of the storm: a pure function of the seed and the block's number.
///
/// The operations form groups of ten. In each group the last one waits for two of the nine before it; the
/// very last operation waits for all ten before it. No operation waits for another block, so that a storm
/// without an end retains nothing.
struct StormBlock: Equatable, Sendable {
  static let size = 1_000

  /// The queues. The operations of a block are distributed among them in turn.
  static let queues = ["north", "east", "south", "west"].map { WorkloadQueue(name: $0, width: 2) }

  /// The number of the block, counted from 0.
  let number: Int
  /// For each group of ten, the two of its first nine operations that the last one waits for.
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
      // A different one of the remaining eight operations.
      return Pair(first: first, second: (first + 1 + generator.index(below: 8)) % 9)
    }
  }

  /// Returns the name of the operation at a position. It is short enough to need no memory of its own.
  func name(at position: Int) -> String { "job \(number * Self.size + position + 1)" }

  /// Returns the positions of the dependencies of the operation at a position. All are lower than its own.
  func dependencies(of position: Int) -> [Int] {
    if position == Self.size - 1 { return Array(position - 10..<position) }
    guard position % 10 == 9 else { return [] }
    let pair = pairs[position / 10]
    return [position - 9 + pair.first, position - 9 + pair.second]
  }
}
