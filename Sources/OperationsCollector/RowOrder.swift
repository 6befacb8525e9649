// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A sorted set of keys that may be a million and change a hundred thousand times a second.
///
/// The keys are in chunks of a bounded size: a change costs a binary search and moving a part of one
/// chunk, whatever the number of keys.
struct RowOrder {
  /// A chunk of more keys than this is split in two.
  private static let chunkLimit = 512

  /// Ascending, each ascending in itself; none is empty.
  private var chunks: [[SortKey]] = []
  /// How many keys there are.
  private(set) var count = 0

  /// Puts a key in. One that is there already stays as it is.
  mutating func insert(_ key: SortKey) {
    guard !chunks.isEmpty else {
      chunks = [[key]]
      count = 1
      return
    }
    let chunk = chunkIndex(of: key)
    let place = Self.insertionIndex(of: key, in: chunks[chunk])
    if place < chunks[chunk].count, chunks[chunk][place] == key { return }
    chunks[chunk].insert(key, at: place)
    count += 1
    if chunks[chunk].count > Self.chunkLimit { split(chunk, at: place) }
  }

  /// Makes two of a chunk that has become too long by a key at `place`.
  private mutating func split(_ chunk: Int, at place: Int) {
    let keys = chunks[chunk]
    // Keys that come in order, as moments do, fill each chunk.
    let isInOrder = chunk == chunks.count - 1 && place == keys.count - 1
    let middle = isInOrder ? keys.count - 1 : keys.count / 2
    // Both copied: what is only cut keeps the room that it had.
    chunks[chunk] = Array(keys[..<middle])
    chunks.insert(Array(keys[middle...]), at: chunk + 1)
  }

  /// Takes a key out; one that is not there is ignored.
  mutating func remove(_ key: SortKey) {
    guard !chunks.isEmpty else { return }
    let chunk = chunkIndex(of: key)
    let place = Self.insertionIndex(of: key, in: chunks[chunk])
    guard place < chunks[chunk].count, chunks[chunk][place] == key else { return }
    chunks[chunk].remove(at: place)
    count -= 1
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// The first `limit` keys, or the last, from the outside in.
  func prefix(_ limit: Int, isReversed: Bool) -> [SortKey] {
    var keys: [SortKey] = []
    keys.reserveCapacity(min(limit, count))
    for index in chunks.indices {
      let room = limit - keys.count
      if room <= 0 { break }
      if isReversed {
        keys += chunks[chunks.count - 1 - index].reversed().prefix(room)
      } else {
        keys += chunks[index].prefix(room)
      }
    }
    return keys
  }

  /// The last chunk that does not begin behind the key, or the first.
  private func chunkIndex(of key: SortKey) -> Int {
    var low = 0
    var high = chunks.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if key < chunks[middle][0] { high = middle - 1 } else { low = middle }
    }
    return low
  }

  private static func insertionIndex(of key: SortKey, in keys: [SortKey]) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
