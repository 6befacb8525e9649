// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The texts that a search examines: the ids and the names of all operations, one after the other in
/// one array of bytes. A search of this array is several times faster than a search of the reports,
/// because the reports are scattered in memory.
///
/// The texts exist only while a viewer searches. They are collected step by step, so that the
/// collector can do other work in between. The names of classes, and the kinds, are stored once.
struct SearchTexts {
  /// The byte before each text. No text in UTF-8 contains this byte, so a search never finds a part
  /// of two texts.
  private static let separator: UInt8 = 0xFF
  /// The number of operations whose texts are collected before the time is checked.
  private static let step = 256
  /// The texts are collected again if more than this number of them is out of date, and also more
  /// than half of all texts.
  private static let outdatedLimit = 10_000

  /// A class, and a kind that the program has set for operations of this class.
  private struct Category: Hashable {
    let className: String
    let kind: String?

    func contains(_ text: String) -> Bool {
      className.containsIgnoringCase(text) || kind?.containsIgnoringCase(text) == true
    }
  }

  /// The separator, the id, the separator and the name of each operation. All letters are lowercase.
  private var bytes: [UInt8] = []
  /// The ids of the operations, in the order of ``bytes``.
  private var ids: [OperationReport.ID] = []
  /// For each operation, the index in ``bytes`` at which its text begins.
  private var starts: [UInt32] = []
  /// For each operation, the number of its class and kind in ``categories``.
  private var categoryNumbers: [UInt32] = []
  private var categories: [Category: UInt32] = [:]
  private var lastCategory = (Category(className: "", kind: nil), number: UInt32(0))
  /// The number of texts that are out of date: those of removed operations, and earlier names and kinds.
  private var outdatedCount = 0
  /// The operations whose names or kinds have changed. They also have texts with earlier names.
  private var renamed: Set<OperationReport.ID> = []

  /// The operations whose texts are not collected yet, from the index `nextPending` on.
  private var pending: [OperationReport.ID]
  private var nextPending = 0

  /// Begins to collect the texts of operations.
  init(of operations: [OperationReport.ID]) {
    pending = operations
    ids.reserveCapacity(operations.count)
    starts.reserveCapacity(operations.count)
    categoryNumbers.reserveCapacity(operations.count)
  }

  /// Whether the texts of some operations are missing.
  var isFilling: Bool { nextPending < pending.count }

  /// Whether many texts that are out of date take up memory. The texts must then be collected again.
  var isWasteful: Bool { outdatedCount > max(Self.outdatedLimit, ids.count / 2) }

  /// Collects texts until all are collected or a time is reached.
  mutating func fill(
    until deadline: ContinuousClock.Instant, _ report: (OperationReport.ID) -> OperationReport?
  ) {
    while isFilling {
      for id in pending[nextPending...].prefix(Self.step) {
        if let report = report(id) { insert(report) }
      }
      nextPending = min(pending.count, nextPending + Self.step)
      if ContinuousClock.now >= deadline { break }
    }
    if !isFilling { (pending, nextPending) = ([], 0) }
  }

  /// Adds the text of an operation.
  mutating func insert(_ report: OperationReport) {
    guard bytes.count < UInt32.max - 0xFFFF else { return }
    let category = Category(className: report.className, kind: report.givenKind)
    // Most operations have the class and the kind of the previous one.
    if categoryNumbers.isEmpty || category != lastCategory.0 {
      let number = categories[category] ?? UInt32(categories.count)
      categories[category] = number
      lastCategory = (category, number)
    }
    ids.append(report.id)
    starts.append(UInt32(bytes.count))
    categoryNumbers.append(lastCategory.number)
    bytes.append(Self.separator)
    append(report.id)
    bytes.append(Self.separator)
    append(report.name)
  }

  /// Adds the text of an operation whose name or kind has changed. The earlier text is out of date.
  mutating func rename(_ report: OperationReport) {
    outdatedCount += 1
    renamed.insert(report.id)
    insert(report)
  }

  /// Handles that an operation was removed. Its text is out of date.
  mutating func remove(_ id: OperationReport.ID) {
    outdatedCount += 1
    renamed.remove(id)
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      for byte in utf8 { bytes.append(Self.lowercase(byte)) }
    }
  }

  /// Appends the text of an id, such as `#1042`. This is several times faster than the creation of a string.
  private mutating func append(_ id: OperationReport.ID) {
    bytes.append(UInt8(ascii: "#"))
    let start = bytes.count
    var rest = id.rawValue
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Returns the operations whose id, name, kind or class contains a text.
  ///
  /// - Parameters:
  ///   - text: The text to search for.
  ///   - report: Returns the report of an operation. It is called for operations whose names or
  ///     kinds have changed.
  /// - Returns: The operations. The result may contain operations that were removed.
  func matches(
    of text: String, _ report: (OperationReport.ID) -> OperationReport?
  ) -> IDSet {
    var found = IDSet(for: ids)
    let needle = text.utf8.map(Self.lowercase)
    guard !needle.isEmpty else { return found }
    let matching = Set(categories.filter { $0.key.contains(text) }.values)
    if !matching.isEmpty {
      for (id, number) in zip(ids, categoryNumbers) where matching.contains(number) {
        found.insert(id)
      }
    }
    let scanner = ByteScanner(needle)
    bytes.withUnsafeBufferPointer { bytes in
      var slot = 0
      var offset = 0
      while slot < ids.count, let hit = scanner.firstHit(in: bytes, from: offset) {
        slot = self.slot(at: hit, from: slot)
        if renamed.isEmpty || !renamed.contains(ids[slot]) { found.insert(ids[slot]) }
        // One hit in a text is enough, so the search continues with the next text.
        slot += 1
        guard slot < ids.count else { break }
        offset = Int(starts[slot])
      }
    }
    for id in renamed where report(id)?.isMatch(of: text) == true { found.insert(id) }
    return found
  }

  /// Returns the index of the operation whose text contains a place in ``bytes``.
  private func slot(at place: Int, from low: Int) -> Int {
    // Most hits are near the previous one, so the distance is doubled until it is too long.
    var low = low
    var distance = 1
    while low + distance < starts.count, starts[low + distance] <= place {
      low += distance
      distance *= 2
    }
    var high = min(low + distance, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= place { low = middle } else { high = middle }
    }
    return low
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

extension OperationReport {
  /// Returns whether the report has the name and the kind of an earlier report of the operation.
  func hasTexts(of earlier: OperationReport) -> Bool {
    name == earlier.name && givenKind == earlier.givenKind
  }
}

/// Finds a sequence of bytes in an array, with the algorithm of Boyer, Moore and Horspool: most
/// comparisons skip as many bytes as the sequence has.
private struct ByteScanner {
  private let needle: [UInt8]
  /// For each value of a byte, the number of bytes to skip if the last compared byte has this value.
  private var skips: [Int]

  /// Creates a scanner. The sequence must not be empty.
  init(_ needle: [UInt8]) {
    self.needle = needle
    skips = Array(repeating: needle.count, count: 256)
    for (index, byte) in needle.dropLast().enumerated() {
      skips[Int(byte)] = needle.count - 1 - index
    }
  }

  /// Returns the index of the first occurrence at or after an index; `nil` if there is none.
  func firstHit(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    if needle.count == 1 {
      var index = start
      while index < bytes.count, bytes[index] != needle[0] { index += 1 }
      return index < bytes.count ? index : nil
    }
    return needle.withUnsafeBufferPointer { needle in
      skips.withUnsafeBufferPointer { skips in
        let last = needle.count - 1
        var index = start + last
        while index < bytes.count {
          let byte = bytes[index]
          if byte == needle[last], isHit(bytes, at: index - last, needle) { return index - last }
          index += skips[Int(byte)]
        }
        return nil
      }
    }
  }

  private func isHit(
    _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, _ needle: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    for index in needle.indices where bytes[start + index] != needle[index] { return false }
    return true
  }
}

/// A set of ids for very many operations. If the ids are dense, the set needs only one bit for each.
struct IDSet {
  /// The maximum number of bits for each id that the set may contain.
  private static let sparseness = 64

  private let first: UInt64
  private var bits: [UInt64] = []
  private var others: Set<OperationReport.ID> = []

  /// Creates an empty set that can contain the given ids.
  init(for ids: [OperationReport.ID]) {
    let range = ids.lazy.map(\.rawValue)
    var (low, high) = (UInt64.max, UInt64.min)
    for id in range { (low, high) = (min(low, id), max(high, id)) }
    first = low
    let limit = UInt64(ids.count * Self.sparseness)
    if !ids.isEmpty, high - low <= limit {
      bits = Array(repeating: 0, count: Int((high - low) / 64) + 1)
    }
  }

  /// Adds an id to the set.
  mutating func insert(_ id: OperationReport.ID) {
    let place = id.rawValue &- first
    if place / 64 < bits.count {
      bits[Int(place / 64)] |= 1 << (place % 64)
    } else {
      others.insert(id)
    }
  }

  /// Returns whether the set contains an id.
  func contains(_ id: OperationReport.ID) -> Bool {
    let place = id.rawValue &- first
    guard place / 64 < bits.count else { return !others.isEmpty && others.contains(id) }
    return bits[Int(place / 64)] & 1 << (place % 64) != 0
  }
}
