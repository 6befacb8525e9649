// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The reason why a file cannot be replayed.
public struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason as a sentence for the user, without a full stop.
  public let description: String
  /// Whether the recording cannot be replayed because it has a different major version.
  public let isOtherVersion: Bool

  /// Creates an error from its description.
  init(_ description: String, isOtherVersion: Bool = false) {
    self.description = description
    self.isOtherVersion = isOtherVersion
  }
}

/// One update of a recording.
public struct RecordedUpdate: Sendable, Equatable {
  /// The offset in the file at which the update begins.
  public var offset: Int
  /// The offset in the file at which the search for the next update begins.
  public var end: Int
  /// The contents of the update.
  public var update: Update
  /// Whether the update contains the complete state.
  public var isWhole: Bool
}

/// Reads the updates of a recording. The file may be truncated or damaged.
///
/// The reader reads one entry at a time, and allocates memory only for bytes that exist in the
/// file. It reads a truncated or damaged file up to the fault.
public struct RecordingReader: Sendable {
  /// A function that returns a number of bytes from an offset on. At the end of the file, it
  /// returns fewer bytes.
  public typealias Source = @Sendable (_ offset: Int, _ count: Int) -> [UInt8]

  /// The greeting of the recorded process.
  public let hello: Hello
  /// The version of the recording.
  public let versions: ProtocolVersions
  /// A sentence that says why the recording is incomplete or damaged; `nil` if no fault is known.
  /// The replay ends at the last update before the fault. If the recording has an index, a fault is
  /// known only after the reader has reached it. If it has no index, all faults are known from the
  /// start.
  public private(set) var fault: String?
  /// The reason that the process gave when it ended; `nil` if the process gave no reason, or if the
  /// reader has not reached the end.
  public private(set) var farewell: String?

  private let size: Int
  private let source: Source
  private let firstOffset: Int
  private var index = RecordingIndex()

  /// Opens a recording.
  ///
  /// - Parameters:
  ///   - size: The number of bytes.
  ///   - source: A function that returns bytes of the file.
  /// - Throws: `RecordingError` if the file is not a recording, has another major version, or has
  ///   no updates.
  public init(size: Int, source: @escaping Source) throws(RecordingError) {
    self.size = size
    self.source = source
    let header = source(0, RecordingFormat.headerSize)
    let numbers = header.dropFirst(RecordingFormat.magic.count)
    guard header.starts(with: RecordingFormat.magic),
      let major = UInt32(littleEndianBytes: numbers.prefix(4)),
      let minor = UInt32(littleEndianBytes: numbers.dropFirst(4))
    else { throw RecordingError("not an opq-top recording") }
    versions = ProtocolVersions(major: major, minor: minor)
    try Self.check(versions, against: RecordingFormat.versions)
    guard
      case .entry(let entry, let end) = Self.entry(
        at: RecordingFormat.headerSize, size: size, source),
      case .hello(let hello, let spoken)? = try? ProcessMessage(decoding: entry.payload)
    else { throw RecordingError("the header of the recording is incomplete or damaged") }
    try Self.check(spoken, against: .current)
    self.hello = hello
    firstOffset = end
    if let index = storedIndex(), isTrue(index) { self.index = index } else { scan() }
    guard index.end != nil, !index.snapshots.isEmpty else {
      throw RecordingError("the recording has no updates")
    }
    guard update(at: snapshot(upTo: start)) != nil else {
      throw RecordingError("the recording is damaged at its beginning")
    }
    // The farewell of the process is discarded. The check of the first update above may have read
    // it, but the replay has not reached it yet.
    farewell = nil
  }

  private static func check(
    _ versions: ProtocolVersions, against ours: ProtocolVersions
  ) throws(RecordingError) {
    guard !ours.isCompatible(with: versions) else { return }
    throw RecordingError(
      "the recording has format version \(versions); this opq-top reads version \(ours)",
      isOtherVersion: true)
  }

  // MARK: Places

  /// The time of the first update.
  public var start: MonitorTime { index.snapshots.first?.time ?? MonitorTime(nanoseconds: 0) }

  /// The time of the last update.
  public var end: MonitorTime { index.end?.time ?? start }

  /// Returns the offset of the last complete update that is not later than a moment.
  public func snapshot(upTo time: MonitorTime) -> Int {
    index.snapshot { $0.time <= time }?.offset ?? firstOffset
  }

  /// Returns the offset of the last complete update before an offset.
  public func snapshot(before offset: Int) -> Int {
    index.snapshot { $0.offset < offset }?.offset ?? firstOffset
  }

  /// Returns the first update after an offset with a warning that the previous update did not have.
  public func warning(behind offset: Int) -> (time: MonitorTime, offset: Int)? {
    index.warnings.first { $0.offset > offset }.map { ($0.time, $0.offset) }
  }

  /// Returns the last update before an offset with a warning that the update before it did not
  /// have.
  public func warning(before offset: Int) -> (time: MonitorTime, offset: Int)? {
    index.warnings.last { $0.offset < offset }.map { ($0.time, $0.offset) }
  }

  /// The times of the updates with a warning that the previous update did not have, sorted.
  public var warningTimes: [MonitorTime] { index.warnings.map(\.time) }

  /// The times of the updates with a new failure, sorted. The index of a recording of version 1.0 has no failures.
  public var failureTimes: [MonitorTime] { index.failures.map(\.time) }

  /// Returns the update that begins at an offset, or the next one after it.
  ///
  /// - Returns: The update; `nil` at the end of the recording. ``fault`` and ``farewell`` then have
  ///   the reason for the end.
  public mutating func update(at offset: Int) -> RecordedUpdate? {
    var assembler = UpdateAssembler()
    var isWhole = false
    var start = offset
    var next = offset
    while true {
      switch Self.entry(at: next, size: size, source) {
      case .cut: return note(fault: "the recording was not completed")
      case .damaged: return note(fault: "the recording is damaged at byte \(next)")
      case .entry(let entry, let end):
        let kind = RecordingEntry.Kind(rawValue: entry.kind)
        if kind == .index { return nil }
        defer { next = end }
        guard kind != nil else { continue }
        guard let message = try? ProcessMessage(decoding: entry.payload) else {
          return note(fault: "the recording is damaged at byte \(next)")
        }
        if case .bye(let farewell) = message { self.farewell = farewell.reason }
        guard case .updatePart(let part) = message else { continue }
        if part.isFirst { (start, isWhole) = (next, kind == .snapshot) }
        do {
          guard var update = try assembler.take(part) else { continue }
          update.time = entry.time
          return RecordedUpdate(offset: start, end: end, update: update, isWhole: isWhole)
        } catch {
          return note(fault: "the recording is damaged at byte \(next)")
        }
      }
    }
  }

  /// Stores a fault as the reason why the replay ends.
  private mutating func note(fault: String) -> RecordedUpdate? {
    self.fault = "\(fault); the replay ends at the last complete update"
    return nil
  }

  /// Makes the given update the last one of the recording, because a fault follows it.
  public mutating func end(with last: RecordedUpdate) {
    index.cut(behind: .init(time: last.update.time, offset: last.offset))
  }

  // MARK: Reading

  private enum Piece {
    case entry(RecordingEntry, end: Int)
    /// The file ends before the entry is complete.
    case cut
    case damaged
  }

  private static func entry(at offset: Int, size: Int, _ source: Source) -> Piece {
    let header = RecordingEntry.headerSize
    guard offset >= 0, offset <= size - header else { return .cut }
    let head = source(offset, 8)
    guard let length = UInt32(littleEndianBytes: head.prefix(4)),
      let checksum = UInt32(littleEndianBytes: head.dropFirst(4))
    else { return .cut }
    guard length <= WireLimits.maximumMessageSize else { return .damaged }
    guard Int(length) <= size - header - offset else { return .cut }
    let body = source(offset + 8, Int(length) + header - 8)
    guard body.count == Int(length) + header - 8 else { return .cut }
    guard let entry = RecordingEntry(checksum: checksum, body) else { return .damaged }
    return .entry(entry, end: offset + header + Int(length))
  }

  /// Returns the index at the end of the file; `nil` if the file has no index or the index is
  /// invalid.
  private func storedIndex() -> RecordingIndex? {
    guard size > firstOffset + RecordingFormat.trailerSize else { return nil }
    let trailer = source(size - RecordingFormat.trailerSize, RecordingFormat.trailerSize)
    guard trailer.count == RecordingFormat.trailerSize,
      trailer.suffix(RecordingFormat.endMagic.count).elementsEqual(RecordingFormat.endMagic),
      let begin = Int64(littleEndianBytes: trailer.prefix(8)), begin >= firstOffset
    else { return nil }
    var index = RecordingIndex()
    var offset = Int(begin)
    while offset < size - RecordingFormat.trailerSize {
      guard case .entry(let entry, let end) = Self.entry(at: offset, size: size, source) else {
        return nil
      }
      if entry.kind == RecordingEntry.Kind.index.rawValue { index.take(entry.payload) }
      offset = end
    }
    return index.isSound(within: firstOffset..<Int(begin)) ? index : nil
  }

  /// Returns whether the first and the last update of the recording are at the offsets that an
  /// index states.
  private mutating func isTrue(_ index: RecordingIndex) -> Bool {
    defer { (fault, farewell) = (nil, nil) }
    guard let first = update(at: firstOffset), first.isWhole,
      let start = index.snapshots.first, start.time == first.update.time,
      let end = index.end, let last = update(at: end.offset), last.update.time == end.time
    else { return false }
    return start.offset == first.offset && end.offset == last.offset
  }

  /// Creates the index of a recording by reading the whole file.
  private mutating func scan() {
    var offset = firstOffset
    while let next = update(at: offset) {
      index.note(
        next.update, at: .init(time: next.update.time, offset: next.offset),
        isSnapshot: next.isWhole)
      offset = next.end
    }
    fault = fault ?? "the recording was not completed; the replay ends at the last complete update"
  }
}
