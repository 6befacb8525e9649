// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The place of one operation among the others: by state, then by time in it.
///
/// The key holds moments, not ages, so that an order stays right while time goes on.
struct SortKey: Sendable, Hashable, Comparable {
  /// Executing first, what is over last.
  let rank: UInt8
  /// Nanoseconds, ascending: the longest in its state first, but what is over newest first.
  let stamp: Int64
  /// Breaks ties.
  let id: OperationReport.ID

  init(_ report: OperationReport) {
    id = report.id
    rank = Self.rank(of: report.state)
    if report.state.isOver {
      stamp = report.finished.map { -$0.nanoseconds } ?? .max
    } else {
      stamp = report.stateEntered?.nanoseconds ?? .min
    }
  }

  /// Whether the operation is over.
  var isOver: Bool { rank == Self.rank(of: .finished) }

  static func < (left: SortKey, right: SortKey) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.stamp != right.stamp { return left.stamp < right.stamp }
    return left.id < right.id
  }

  private static func rank(of state: OperationState) -> UInt8 {
    switch state {
    case .executing: 0
    case .cancelling: 1
    case .ready: 2
    case .held: 3
    case .waiting: 4
    case .finished, .cancelled: 5
    }
  }
}

/// The operations in the order of their keys, kept up to date by merging.
struct OperationOrder: Sendable, Equatable {
  /// All keys, ascending.
  private(set) var keys: [SortKey] = []
  /// How many of them, at the front, are not over.
  private(set) var unfinishedCount = 0

  /// Takes keys out and puts others in: one pass over the keys, whatever the number of changes.
  ///
  /// - Precondition: Every key in `old` is there, once.
  mutating func replace(_ old: [SortKey], with new: [SortKey]) {
    guard !old.isEmpty || !new.isEmpty else { return }
    let old = old.sorted()
    let new = new.sorted()
    var merged: [SortKey] = []
    merged.reserveCapacity(keys.count - old.count + new.count)
    var nextOld = 0
    var nextNew = 0
    for key in keys {
      if nextOld < old.count, old[nextOld] == key {
        nextOld += 1
        continue
      }
      while nextNew < new.count, new[nextNew] < key {
        merged.append(new[nextNew])
        nextNew += 1
      }
      merged.append(key)
    }
    merged.append(contentsOf: new[nextNew...])
    keys = merged
    unfinishedCount = firstIndex { $0.isOver }
  }

  /// Where `key` is, or would be.
  func insertionIndex(of key: SortKey) -> Int { firstIndex { !($0 < key) } }

  /// Where `key` is; `nil` where it is not.
  func index(of key: SortKey) -> Int? {
    let index = insertionIndex(of: key)
    return index < keys.count && keys[index] == key ? index : nil
  }

  /// The first index whose key belongs to the second part of a partitioned order.
  private func firstIndex(where belongsToSecondPart: (SortKey) -> Bool) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if belongsToSecondPart(keys[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
