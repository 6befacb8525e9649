// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Where in a recording is what can be jumped to.
struct RecordingIndex: Sendable, Equatable {
  /// What an entry is about.
  enum Kind: UInt8 {
    /// An update that holds everything.
    case snapshot = 1
    /// An update with a warning that the one before did not have.
    case warning = 2
    /// The last update.
    case end = 3
  }

  /// An update, and where it begins.
  struct Place: Sendable, Equatable {
    var time: MonitorTime
    var offset: Int
  }

  /// The bytes of an entry: its kind, its time and its offset.
  private static let entrySize = 17
  /// So many entries go into a frame.
  static let entriesPerFrame = 10_000

  /// By time.
  var snapshots: [Place] = []
  /// By time.
  var warnings: [Place] = []
  /// `nil` where there is no update.
  var end: Place?

  private var warned: Set<WarningIdentity> = []

  /// Notes an update.
  mutating func note(_ update: Update, at place: Place, isSnapshot: Bool) {
    if isSnapshot { snapshots.append(place) }
    let warned = Set(update.warnings.lazy.map { WarningIdentity($0) })
    if !warned.isSubset(of: self.warned) { warnings.append(place) }
    self.warned = warned
    end = place
  }

  /// The payloads of its frames.
  var payloads: [[UInt8]] {
    var entries = snapshots.map { (Kind.snapshot, $0) } + warnings.map { (Kind.warning, $0) }
    if let end { entries.append((.end, end)) }
    return stride(from: 0, to: entries.count, by: Self.entriesPerFrame).map { start in
      entries[start..<min(start + Self.entriesPerFrame, entries.count)].flatMap { kind, place in
        [kind.rawValue] + place.time.nanoseconds.littleEndianBytes
          + Int64(place.offset).littleEndianBytes
      }
    }
  }

  /// Takes in the payload of a frame, of whose entries those of unknown kinds are skipped.
  mutating func take(_ payload: [UInt8]) {
    for start in stride(from: 0, through: payload.count - Self.entrySize, by: Self.entrySize) {
      guard let kind = Kind(rawValue: payload[start]),
        let time = Int64(littleEndianBytes: payload[start + 1..<start + 9]),
        let offset = Int64(littleEndianBytes: payload[start + 9..<start + 17])
      else { continue }
      let place = Place(time: MonitorTime(wire: time), offset: Int(offset))
      switch kind {
      case .snapshot: snapshots.append(place)
      case .warning: warnings.append(place)
      case .end: end = place
      }
    }
  }

  /// Whether all is in the order of time, and lies where updates may be.
  func isSound(within offsets: Range<Int>) -> Bool {
    guard let end, !snapshots.isEmpty else { return false }
    return [snapshots, warnings].allSatisfy { places in
      places.allSatisfy {
        offsets.contains($0.offset) && $0.offset <= end.offset && $0.time <= end.time
      }
        && zip(places, places.dropFirst()).allSatisfy {
          $0.time <= $1.time && $0.offset < $1.offset
        }
    } && offsets.contains(end.offset)
  }

  /// The last update that holds everything and lies before something, for which a condition holds; the first
  /// one where there is none.
  func snapshot(where isBefore: (Place) -> Bool) -> Place? {
    var (low, high) = (0, snapshots.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(snapshots[middle]) { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? snapshots[low - 1] : snapshots.first
  }

  /// Forgets what lies behind the update at a place.
  mutating func cut(behind place: Place) {
    snapshots.removeAll { $0.offset > place.offset }
    warnings.removeAll { $0.offset > place.offset }
    end = place
  }
}
