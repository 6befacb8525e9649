// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Turns what a monitor tells, of everything that there is, into the bytes of a recording.
///
/// Every 5 s it writes all that is known, so that playing can begin there; where that is much, rarer, so
/// that it makes up most of a recording only where little happens.
public struct RecordingWriter: Sendable {
  /// The shortest time between two updates that hold everything.
  public static let snapshotInterval = Duration.seconds(5)
  /// Between them stand at least so many bytes of other updates: a part of the size of the first.
  private static let snapshotShare = 4

  /// How many bytes there were so far.
  public private(set) var byteCount = 0
  /// How many updates are among them.
  public private(set) var updateCount = 0

  private var state = ProcessState()
  private var index = RecordingIndex()
  private var start: MonitorTime?
  private var lastTime = MonitorTime(nanoseconds: 0)
  /// Whether the next update is all that is known.
  private var isWhole = true
  private var lastSnapshot: (time: MonitorTime, size: Int)?
  private var sizeSinceSnapshot = 0

  /// Creates a writer of a recording that has not begun.
  public init() {}

  /// The time from the first update to the last one.
  public var length: Duration { start.map { lastTime - $0 } ?? .zero }

  /// The bytes that a message adds: none before the first greeting.
  public mutating func add(_ message: MonitorMessage) -> [UInt8] {
    var bytes: [UInt8] = []
    switch message {
    case .hello(let hello):
      // Whoever greets again tells everything anew.
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

  /// The bytes that complete the recording: the index. Without them it can be played, too.
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
    // Who looks for a moment relies on the order.
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
