// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Converts the messages of a monitor into the bytes of a recording. The viewer's interest must
/// include all operations.
///
/// The writer writes the complete state every 5 s, so that a replay can begin there. If the
/// complete state is large, the writer writes it less often, so that complete states do not make up
/// most of a recording with many changes.
public struct RecordingWriter: Sendable {
  /// The shortest time between two complete updates.
  public static let snapshotInterval = Duration.seconds(5)
  /// A complete update is due only if the updates since the previous complete update are together
  /// at least as large as the previous complete update divided by this number.
  private static let snapshotShare = 4

  /// The number of bytes that the writer has returned so far.
  public private(set) var byteCount = 0
  /// The number of updates that the writer has received so far.
  public private(set) var updateCount = 0

  private var state = ProcessState()
  private var index = RecordingIndex()
  private var start: MonitorTime?
  private var lastTime = MonitorTime(nanoseconds: 0)
  /// Whether the next update from the process contains the complete state.
  private var isWhole = true
  private var lastSnapshot: (time: MonitorTime, size: Int)?
  private var sizeSinceSnapshot = 0

  /// Creates a writer of an empty recording.
  public init() {}

  /// The duration from the first update to the last update.
  public var length: Duration { start.map { lastTime - $0 } ?? .zero }

  /// Returns the bytes that a message adds to the recording. Before the first greeting, the result
  /// is empty.
  public mutating func add(_ message: MonitorMessage) -> [UInt8] {
    var bytes: [UInt8] = []
    switch message {
    case .hello(let hello):
      // After each greeting, the process sends its complete state.
      isWhole = true
      if byteCount == 0 { begin(hello, &bytes) }
    case .update(let update):
      if byteCount > 0 { add(update, &bytes) }
    case .ended(let reason):
      guard byteCount > 0 else { break }
      let farewell = Farewell(cause: .processEnds, reason: reason)
      RecordingEntry(.message, at: lastTime, ProcessMessage.bye(farewell).encoded())
        .append(to: &bytes)
    case .commandResult, .silent, .disconnected:
      break
    }
    byteCount += bytes.count
    return bytes
  }

  /// Returns the bytes of the index, which complete the recording. A recording can also be replayed
  /// without them.
  public mutating func finish() -> [UInt8] {
    guard byteCount > 0 else { return [] }
    var bytes: [UInt8] = []
    for payload in index.payloads {
      RecordingEntry(.index, at: lastTime, payload).append(to: &bytes)
    }
    bytes += Int64(byteCount).littleEndianBytes
    bytes += RecordingFormat.endMagic
    byteCount += bytes.count
    return bytes
  }

  private func begin(_ hello: Hello, _ bytes: inout [UInt8]) {
    bytes += RecordingFormat.magic
    bytes += RecordingFormat.versions.major.littleEndianBytes
    bytes += RecordingFormat.versions.minor.littleEndianBytes
    RecordingEntry(
      .message, at: hello.anchor, ProcessMessage.hello(hello, versions: .current).encoded()
    ).append(to: &bytes)
  }

  private mutating func add(_ update: Update, _ bytes: inout [UInt8]) {
    var update = update
    // The search for a moment requires that times never decrease.
    if start != nil { update.time = max(update.time, lastTime) }
    state.apply(update, isWhole: isWhole)
    let isDue = lastSnapshot.map {
      update.time - $0.time >= Self.snapshotInterval
        && sizeSinceSnapshot >= $0.size / Self.snapshotShare
    }
    let isSnapshot = isWhole || isDue ?? true
    for part in UpdateParts(isSnapshot ? state.whole ?? update : update) {
      RecordingEntry(isSnapshot ? .snapshot : .message, at: update.time, part).append(to: &bytes)
    }
    let place = RecordingIndex.Place(time: update.time, offset: byteCount)
    index.note(update, at: place, isSnapshot: isSnapshot)
    if isSnapshot {
      lastSnapshot = (update.time, bytes.count)
      sizeSinceSnapshot = 0
    } else {
      sizeSinceSnapshot += bytes.count
    }
    isWhole = false
    start = start ?? update.time
    lastTime = update.time
    updateCount += 1
  }
}
