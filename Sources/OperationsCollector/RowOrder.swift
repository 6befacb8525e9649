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

  /// Creates an empty set.
  init() {}

  /// Creates the set of the keys of another set that match a condition. The time is proportional to
  /// the number of keys in the other set, and no key is compared with another key.
  init(_ other: RowOrder, where isIncluded: (SortKey) -> Bool) {
    for others in other.chunks {
      let included = others.indices.filter { isIncluded(others[$0]) }
      // If all keys of a chunk match, the chunk is shared and not copied.
      let chunk = included.count == others.count ? others : included.map { others[$0] }
      count += chunk.count
      if let last = chunks.last, last.count + chunk.count <= Self.chunkLimit / 2 {
        chunks[chunks.count - 1] += chunk
      } else if !chunk.isEmpty {
        chunks.append(chunk)
      }
    }
  }

  /// Returns the number of keys that are less than a key, and whether the set contains the key.
  func rank(of key: SortKey) -> (count: Int, isPresent: Bool) {
    guard !chunks.isEmpty else { return (0, false) }
    let chunk = chunkIndex(of: key)
    let place = Self.insertionIndex(of: key, in: chunks[chunk])
    let isPresent = place < chunks[chunk].count && chunks[chunk][place] == key
    return (chunks[..<chunk].reduce(0) { $0 + $1.count } + place, isPresent)
  }

  /// Returns the keys at these positions, in ascending order.
  func keys(at positions: Range<Int>) -> [SortKey] {
    var keys: [SortKey] = []
    var start = 0
    for chunk in chunks {
      let wanted = positions.clamped(to: start..<start + chunk.count)
      if !wanted.isEmpty { keys += chunk[wanted.lowerBound - start..<wanted.upperBound - start] }
      start += chunk.count
      if start >= positions.upperBound { break }
    }
    return keys
  }

  /// Returns the keys of one chunk that are greater than a key, or the first keys if it is `nil`, in ascending order. The
  /// result is empty only if there are no such keys.
  func chunk(after key: SortKey?) -> ArraySlice<SortKey> {
    guard let key, !chunks.isEmpty else { return chunks.first?[...] ?? [] }
    let index = chunkIndex(of: key)
    let keys = chunks[index][Self.insertionIndex(of: key, in: chunks[index])...]
      .drop { $0 == key }
    if !keys.isEmpty { return keys }
    return index + 1 < chunks.count ? chunks[index + 1][...] : []
  }

  /// Returns whether the set contains a key.
  func contains(_ key: SortKey) -> Bool {
    guard !chunks.isEmpty else { return false }
    let chunk = chunks[chunkIndex(of: key)]
    let place = Self.insertionIndex(of: key, in: chunk)
    return place < chunk.count && chunk[place] == key
  }

  /// Inserts a key into the set. If the set already contains the key, nothing changes.
  ///
  /// - Returns: Whether the key was inserted.
  @discardableResult
  mutating func insert(_ key: SortKey) -> Bool {
    guard !chunks.isEmpty else {
      chunks = [[key]]
      count = 1
      return true
    }
    let chunk = chunkIndex(of: key)
    let place = Self.insertionIndex(of: key, in: chunks[chunk])
    if place < chunks[chunk].count, chunks[chunk][place] == key { return false }
    chunks[chunk].insert(key, at: place)
    count += 1
    if chunks[chunk].count > Self.chunkLimit { split(chunk, at: place) }
    return true
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
  ///
  /// - Returns: Whether the set contained the key.
  @discardableResult
  mutating func remove(_ key: SortKey) -> Bool {
    guard !chunks.isEmpty else { return false }
    let chunk = chunkIndex(of: key)
    let place = Self.insertionIndex(of: key, in: chunks[chunk])
    guard place < chunks[chunk].count, chunks[chunk][place] == key else { return false }
    chunks[chunk].remove(at: place)
    count -= 1
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    return true
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
