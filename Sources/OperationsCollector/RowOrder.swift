// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A sorted set for up to a million keys and a hundred thousand changes per second.
///
/// The keys are stored in chunks of limited size. A change needs a binary search and moves the keys
/// of only one chunk, regardless of the number of keys.
struct RowOrder {
  /// The maximum number of keys in a chunk. A larger chunk is split in two.
  private static let chunkLimit = 512

  /// The chunks in ascending order. Each chunk is sorted, and no chunk is empty.
  private var chunks: [[SortKey]] = []
  /// The number of keys in the set.
  private(set) var count = 0

  /// Inserts a key into the set. If the set already contains the key, nothing changes.
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

  /// Splits a chunk that has become too long because a key was inserted at the index `place`.
  private mutating func split(_ chunk: Int, at place: Int) {
    let keys = chunks[chunk]
    // If keys are inserted in ascending order, as moments are, the old chunk stays full.
    let isInOrder = chunk == chunks.count - 1 && place == keys.count - 1
    let middle = isInOrder ? keys.count - 1 : keys.count / 2
    // Both parts of the split chunk are copied, because a shortened array keeps its capacity.
    chunks[chunk] = Array(keys[..<middle])
    chunks.insert(Array(keys[middle...]), at: chunk + 1)
  }

  /// Removes a key from the set. If the set does not contain the key, nothing changes.
  mutating func remove(_ key: SortKey) {
    guard !chunks.isEmpty else { return }
    let chunk = chunkIndex(of: key)
    let place = Self.insertionIndex(of: key, in: chunks[chunk])
    guard place < chunks[chunk].count, chunks[chunk][place] == key else { return }
    chunks[chunk].remove(at: place)
    count -= 1
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// Returns the first `limit` keys. If `isReversed` is `true`, returns the last `limit` keys, the
  /// last key first.
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

  /// Returns the index of the last chunk whose first key is not greater than the key; 0 if there is
  /// no such chunk.
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
