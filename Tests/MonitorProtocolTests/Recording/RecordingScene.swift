// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import MonitorProtocol

/// An imaginary process that starts an operation each second, which finishes in the following
/// second. In every eighth second, the process has a warning.
enum RecordingScene {
  static let hello = Hello(
    processName: "tiles", processID: 4711, isReadOnly: false, anchor: time(0),
    anchorSecondsSince1970: 1_000, processStarted: time(0))

  static func time(_ seconds: Int) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds) * 1_000_000_000)
  }

  static func report(_ number: Int, _ state: OperationState) -> OperationReport {
    OperationReport(
      id: .init(UInt64(number)), name: "tile \(number)", className: "Tile", queue: .init(1),
      state: state, dependencies: number > 1 ? [.init(UInt64(number - 1))] : [],
      added: time(number), started: time(number),
      finished: state == .finished ? time(number + 1) : nil)
  }

  /// Returns the update of the process at a certain second. The process keeps the last ten
  /// operations.
  static func update(_ second: Int) -> Update {
    var counts = StateCounts()
    (counts.executing, counts.finished, counts.total) = (1, second - 1, second)
    var update = Update(
      time: time(second), queues: [QueueReport(id: .init(1), name: "cpu", counts: counts)],
      changed: [report(second, .executing)]
        + (second > 1 ? [report(second - 1, .finished)] : []),
      removed: second > 10 ? [.init(UInt64(second - 10))] : [], matchCount: second,
      keptCount: min(second, 10))
    if second % 8 == 0 {
      update.warnings = [MonitorWarning(kind: .slow, operations: [.init(UInt64(second))], count: 1)]
    }
    return update
  }

  /// Returns the bytes of a recording that lasts for a number of seconds.
  static func bytes(_ seconds: Int, isFinished: Bool = true) -> [UInt8] {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(hello))
    for second in 1...seconds { bytes += writer.add(.update(update(second))) }
    return isFinished ? bytes + writer.finish() : bytes
  }

  static func reader(_ bytes: [UInt8]) throws(RecordingError) -> RecordingReader {
    try RecordingReader(size: bytes.count) { offset, count in
      let start = max(0, min(offset, bytes.count))
      return Array(bytes[start..<min(bytes.count, start + count)])
    }
  }

  /// Returns all updates that a reader replays from an offset on.
  static func updates(
    _ reader: inout RecordingReader, from offset: Int? = nil
  ) -> [RecordedUpdate] {
    var updates: [RecordedUpdate] = []
    var offset = offset ?? reader.snapshot(upTo: reader.start)
    while let next = reader.update(at: offset) {
      updates.append(next)
      offset = next.end
    }
    return updates
  }

  /// Applies updates one after the other, and returns the operations that are known after each
  /// update.
  static func states(_ updates: [RecordedUpdate]) -> [[OperationReport]] {
    var state = ProcessState()
    return updates.map {
      state.apply($0.update, isWhole: $0.isWhole)
      return state.operations.all.sorted { $0.id < $1.id }
    }
  }
}
