// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The offsets in a recording to which a replay can jump.
struct RecordingIndex: Sendable, Equatable {
  /// The kind of a place in a recording.
  enum Kind: UInt8 {
    /// The place of a complete update.
    case snapshot = 1
    /// The place of an update with a warning that the previous update did not have.
    case warning = 2
    /// The place of the last update.
    case end = 3
    /// The place of an update with an operation that has failed since the previous update. Recordings of version 1.0
    /// have no such places.
    case failure = 4
  }

  /// The time and the offset of an update.
  struct Place: Sendable, Equatable {
    var time: MonitorTime
    var offset: Int
  }

  /// The size of a place in bytes: 1 byte for its kind, 8 bytes for its time and 8 bytes for its
  /// offset.
  private static let placeSize = 17
  /// The maximum number of places in one entry of the recording.
  static let placesPerEntry = 10_000

  /// The places of complete updates, sorted by time.
  var snapshots: [Place] = []
  /// The places of updates with a new warning, sorted by time.
  var warnings: [Place] = []
  /// The places of updates with a new failure, sorted by time.
  var failures: [Place] = []
  /// The place of the last update; `nil` if there is none.
  var end: Place?

  private var warned: Set<WarningIdentity> = []
  /// The number of failed operations of each queue in the last update; `nil` before the first update.
  private var failedCounts: [QueueReport.ID: Int]?

  /// Adds the places for an update.
  mutating func note(_ update: Update, at place: Place, isSnapshot: Bool) {
    if isSnapshot { snapshots.append(place) }
    let warned = Set(update.warnings.lazy.map { WarningIdentity($0) })
    if !warned.isSubset(of: self.warned) { warnings.append(place) }
    self.warned = warned
    let failed = Dictionary(
      update.queues.lazy.map { ($0.id, $0.counts.failed) }, uniquingKeysWith: { first, _ in first })
    // The operations that have failed before the first update are no failures at a moment of the recording.
    if let before = failedCounts, failed.contains(where: { $1 > before[$0, default: 0] }) {
      failures.append(place)
    }
    failedCounts = failed
    end = place
  }

  /// The payloads of the entries of the index.
  var payloads: [[UInt8]] {
    var places =
      snapshots.map { (Kind.snapshot, $0) } + warnings.map { (Kind.warning, $0) }
      + failures.map { (Kind.failure, $0) }
    if let end { places.append((.end, end)) }
    return stride(from: 0, to: places.count, by: Self.placesPerEntry).map { start in
      places[start..<min(start + Self.placesPerEntry, places.count)].flatMap { kind, place in
        [kind.rawValue] + place.time.nanoseconds.littleEndianBytes
          + Int64(place.offset).littleEndianBytes
      }
    }
  }

  /// Adds the places of an entry's payload. Places of unknown kinds are skipped.
  mutating func take(_ payload: [UInt8]) {
    for start in stride(from: 0, through: payload.count - Self.placeSize, by: Self.placeSize) {
      guard let kind = Kind(rawValue: payload[start]),
        let time = Int64(littleEndianBytes: payload[start + 1..<start + 9]),
        let offset = Int64(littleEndianBytes: payload[start + 9..<start + 17])
      else { continue }
      let place = Place(time: MonitorTime(wire: time), offset: Int(offset))
      switch kind {
      case .snapshot: snapshots.append(place)
      case .warning: warnings.append(place)
      case .failure: failures.append(place)
      case .end: end = place
      }
    }
  }

  /// Returns whether all places are sorted by time and lie within the given offsets.
  func isSound(within offsets: Range<Int>) -> Bool {
    guard let end, !snapshots.isEmpty else { return false }
    guard offsets.contains(end.offset) else { return false }
    return [snapshots, warnings, failures].allSatisfy { (places: [Place]) -> Bool in
      let areInside = places.allSatisfy { place in
        offsets.contains(place.offset) && place.offset <= end.offset && place.time <= end.time
      }
      let areSorted = zip(places, places.dropFirst()).allSatisfy { one, next in
        one.time <= next.time && one.offset < next.offset
      }
      return areInside && areSorted
    }
  }

  /// Returns the last complete update that matches a condition; the first complete update if none
  /// matches. The condition must hold for all updates before a moment or offset, and for no update
  /// after it.
  func snapshot(where isBefore: (Place) -> Bool) -> Place? {
    var (low, high) = (0, snapshots.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(snapshots[middle]) { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? snapshots[low - 1] : snapshots.first
  }

  /// Removes all places after the given place, which becomes the end of the recording.
  mutating func cut(behind place: Place) {
    snapshots.removeAll { $0.offset > place.offset }
    warnings.removeAll { $0.offset > place.offset }
    failures.removeAll { $0.offset > place.offset }
    end = place
  }
}
