// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Divides a row of cells among the states in proportion to their counts.
struct ProportionBar: Sendable, Equatable {
  /// The states that have a share of the bar, in the order from left to right.
  enum Share: Sendable, CaseIterable {
    case finished, cancelled, executing, ready, waiting

    /// The role of a state's share of the bar. The role determines the color of the share's cells.
    var role: Role {
      switch self {
      case .finished: .finished
      case .cancelled: .cancelled
      case .executing: .executing
      case .ready: .ready
      case .waiting: .waiting
      }
    }
  }

  /// The number of cells of each share. Their sum is the width of the bar, or zero if all counts are zero.
  let cells: [(share: Share, width: Int)]

  /// Divides `width` cells among the shares. If there is a cell for each share that is not zero, each of
  /// these shares gets at least one cell.
  init(counts: StateCounts, width: Int) {
    let parts = Share.allCases.map { ($0, max(0, Self.count(of: $0, in: counts))) }
    let total = parts.reduce(0) { $0 + $1.1 }
    let shareCount = parts.count { $0.1 > 0 }
    guard total > 0, width >= shareCount else {
      cells = []
      return
    }
    // Each share that is not zero first gets one cell, and then cells in proportion to its count, rounded
    // down. The remaining cells go to the shares with the largest remainders, so that the sum is exact.
    let rest = width - shareCount
    // The product of a count and a width can be larger than an `Int`, so it is computed with twice as many
    // bits.
    let quotients = parts.map { total.dividingFullWidth($0.1.multipliedFullWidth(by: rest)) }
    var widths = parts.indices.map { parts[$0].1 > 0 ? 1 + quotients[$0].quotient : 0 }
    let remainders = parts.indices.sorted {
      (quotients[$0].remainder, $1) > (quotients[$1].remainder, $0)
    }
    let missing = width - widths.reduce(0, +)
    for index in remainders.prefix(missing) { widths[index] += 1 }
    cells = zip(parts, widths).map { (share: $0.0, width: $1) }
  }

  static func == (left: ProportionBar, right: ProportionBar) -> Bool {
    left.cells.elementsEqual(right.cells) { $0 == $1 }
  }

  /// Returns the number of operations in a share.
  static func count(of share: Share, in counts: StateCounts) -> Int {
    switch share {
    case .finished: counts.finished
    case .cancelled: counts.cancelled
    case .executing: counts.executing
    case .ready: counts.ready
    case .waiting: counts.waiting
    }
  }
}
