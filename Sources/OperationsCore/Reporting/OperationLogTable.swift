// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One line that the code of an operation has logged.
package struct OperationLogLine: Sendable, Equatable {
  /// The maximum size of a text in bytes of UTF-8. Longer texts are cut.
  package static let longestText = 500

  /// The time on the monotonic clock in nanoseconds.
  package let time: Int64
  /// The number of lines that all operations had logged when this line was logged, including it.
  package let sequence: UInt64
  /// The text. It may contain any characters.
  package let text: String
  package let level: OperationLogLevel

  /// Returns a copy of a text that takes only the memory that its bytes need. A text of more than
  /// ``longestText`` bytes is cut at the end of a character, and "…" follows.
  static func stored(_ text: String) -> String {
    let bytes = text.utf8
    // The text is copied in each case, because the memory of a text can be much larger than its
    // bytes.
    guard bytes.count > longestText else { return String(decoding: bytes, as: UTF8.self) }
    let ending = "…"
    var end = bytes.index(bytes.startIndex, offsetBy: longestText - ending.utf8.count)
    while UTF8.isContinuation(bytes[end]) { end = bytes.index(before: end) }
    let start = String(decoding: bytes[..<end], as: UTF8.self)
    // A divided character is removed, unless it is the only one.
    let whole = end.samePosition(in: text) == nil ? start.dropLast() : start[...]
    return (whole.isEmpty ? start : String(whole)) + ending
  }
}

/// The last log lines of operations, within a limit of memory.
///
/// Each operation keeps its last ``lineLimit`` lines. If all lines together exceed the limit of
/// memory, the operations whose last line is the oldest lose all their lines. Adding a line takes
/// constant time on average.
struct OperationLogTable {
  /// The maximum number of lines of one operation.
  static let lineLimit = 50
  /// The maximum memory for the lines of all operations, in bytes.
  static let usualByteLimit = 4 << 20

  /// The lines of one operation, and its place in the order of the last lines.
  private struct Tail {
    let id: OperationID
    /// The lines. If there are ``lineLimit`` lines, they are a ring that begins at `start`.
    var lines: [OperationLogLine] = []
    var start = 0
    /// The number of the next line.
    var next: UInt64 = 0
    /// The memory of the lines.
    var byteCount = 0
    /// The indexes of the tails with the next older and the next newer last line; -1 if there is none.
    var older = -1
    var newer = -1

    init(of id: OperationID) { self.id = id }

    /// The sequence number of the last line.
    var lastSequence: UInt64 {
      lines.isEmpty ? 0 : lines[(start + lines.count - 1) % lines.count].sequence
    }

    /// Adds a line. Returns whether the oldest line was dropped.
    mutating func append(_ line: OperationLogLine) -> Bool {
      let mustDrop = lines.count == OperationLogTable.lineLimit
      if mustDrop {
        byteCount -= Memory.size(of: lines[start].text)
        lines[start] = line
        start = (start + 1) % lines.count
      } else {
        if lines.count == lines.capacity {
          byteCount -= Memory.size(of: lines)
          lines.reserveCapacity(min(OperationLogTable.lineLimit, max(4, 2 * lines.capacity)))
          byteCount += Memory.size(of: lines)
        }
        lines.append(line)
      }
      byteCount += Memory.size(of: line.text)
      return mustDrop
    }

    /// The lines with a sequence number in a range, the oldest first.
    func lines(in range: ClosedRange<UInt64>) -> [OperationLogLine] {
      (lines[start...] + lines[..<start]).filter { range.contains($0.sequence) }
    }
  }

  /// The memory that values really take, with the rounding of the allocator.
  private enum Memory {
    static func allocated(_ size: Int) -> Int { (size + 8 + 15) & ~15 }

    /// The memory of a text outside of the line that contains it. A text of at most 15 bytes is
    /// stored in the line.
    static func size(of text: String) -> Int {
      text.utf8.count <= 15 ? 0 : allocated(32 + text.utf8.count + 1)
    }

    static func size<Element>(of array: [Element]) -> Int {
      array.capacity == 0 ? 0 : allocated(32 + array.capacity * MemoryLayout<Element>.stride)
    }

    /// The memory of a dictionary. At most three quarters of its places are used, and each place
    /// needs one more bit.
    static func size<Key, Value>(of dictionary: [Key: Value]) -> Int {
      let place = MemoryLayout<Key>.stride + MemoryLayout<Value>.stride
      return dictionary.capacity == 0
        ? 0 : allocated(80 + dictionary.capacity * 4 / 3 * (place + 1))
    }
  }

  private let byteLimit: Int
  private var tails: [Tail] = []
  /// The index of each operation's tail in `tails`.
  private var indexes: [OperationID: Int] = [:]
  /// The indexes of the tails with the oldest and the newest last line; -1 if there are no tails.
  private var oldest = -1
  private var newest = -1
  private var lineByteCount = 0

  /// The number of lines that were ever added.
  private(set) var sequence: UInt64 = 0
  /// The number of lines that were dropped because of a limit.
  private(set) var droppedCount: UInt64 = 0
  /// Whether an operation has lost all its lines because of the limit of memory.
  private(set) var hasDroppedOperations = false

  /// Creates a table without lines.
  init(byteLimit: Int = OperationLogTable.usualByteLimit) { self.byteLimit = byteLimit }

  /// The memory of the table in bytes.
  var byteCount: Int { lineByteCount + Memory.size(of: tails) + Memory.size(of: indexes) }
  /// The number of operations with lines.
  var operationCount: Int { tails.count }

  /// Adds a line of an operation.
  ///
  /// - Parameters:
  ///   - text: The text, as ``OperationLogLine/stored(_:)`` returns it.
  ///   - level: The level of the line.
  ///   - time: The time of the line on the monotonic clock.
  ///   - id: The operation.
  ///   - number: The number of lines that the operation has logged before, including dropped ones.
  mutating func append(
    _ text: String, level: OperationLogLevel, at time: Int64, of id: OperationID, number: UInt64
  ) {
    sequence += 1
    let line = OperationLogLine(time: time, sequence: sequence, text: text, level: level)
    let index = indexes[id] ?? add(Tail(of: id))
    lineByteCount -= tails[index].byteCount
    if tails[index].append(line) { droppedCount += 1 }
    tails[index].next = number + 1
    lineByteCount += tails[index].byteCount
    unlink(index)
    linkAsNewest(index)
    while byteCount > byteLimit, tails.count > 1 { dropOldest() }
  }

  /// The operations that have logged after a sequence number, the last one first.
  func operations(after sequence: UInt64) -> [OperationID] {
    var found: [OperationID] = []
    var index = newest
    while index >= 0, tails[index].lastSequence > sequence {
      found.append(tails[index].id)
      index = tails[index].older
    }
    return found
  }

  /// Returns the sequence number of the last line of an operation; 0 if it has no lines.
  func lastSequence(of id: OperationID) -> UInt64 {
    indexes[id].map { tails[$0].lastSequence } ?? 0
  }

  /// Returns the lines of an operation with sequence numbers in a range, the oldest first, and the
  /// number of the first of them. The result is `nil` if there are none.
  func lines(
    of id: OperationID, in range: ClosedRange<UInt64>
  ) -> (first: UInt64, lines: [OperationLogLine])? {
    guard let index = indexes[id] else { return nil }
    let tail = tails[index]
    let lines = tail.lines(in: range)
    guard let last = lines.last else { return nil }
    let laterCount = tail.lines.count { $0.sequence > last.sequence }
    return (tail.next - UInt64(laterCount + lines.count), lines)
  }

  // MARK: The order of the last lines

  private mutating func add(_ tail: Tail) -> Int {
    tails.append(tail)
    indexes[tail.id] = tails.count - 1
    linkAsNewest(tails.count - 1)
    return tails.count - 1
  }

  private mutating func linkAsNewest(_ index: Int) {
    tails[index].older = newest
    tails[index].newer = -1
    if newest >= 0 { tails[newest].newer = index } else { oldest = index }
    newest = index
  }

  private mutating func unlink(_ index: Int) {
    connect(tails[index].older, to: tails[index].newer)
  }

  /// Makes two tails neighbours. If one of them is missing, the other one is at the end.
  private mutating func connect(_ older: Int, to newer: Int) {
    if older >= 0 { tails[older].newer = newer } else { oldest = newer }
    if newer >= 0 { tails[newer].older = older } else { newest = older }
  }

  private mutating func dropOldest() {
    let index = oldest
    unlink(index)
    indexes[tails[index].id] = nil
    lineByteCount -= tails[index].byteCount
    droppedCount += UInt64(tails[index].lines.count)
    hasDroppedOperations = true
    // The last tail takes the place of the dropped one.
    let last = tails.removeLast()
    if index < tails.count {
      tails[index] = last
      indexes[last.id] = index
      connect(last.older, to: index)
      connect(index, to: last.newer)
    }
    shrinkIfSparse()
  }

  /// Releases memory of the tables after most operations were dropped. This takes constant time for
  /// each dropped operation on average.
  private mutating func shrinkIfSparse() {
    guard tails.capacity > 64, tails.count < tails.capacity / 4 else { return }
    var fewer: [Tail] = []
    fewer.reserveCapacity(2 * tails.count)
    fewer += tails
    tails = fewer
    var index = Dictionary<OperationID, Int>(minimumCapacity: 2 * tails.count)
    for (position, tail) in tails.enumerated() { index[tail.id] = position }
    indexes = index
  }
}
