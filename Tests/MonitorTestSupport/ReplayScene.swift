// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// A recording of one minute. Each second, an operation starts in a queue, and the operation of the
/// previous second, on which it depends, finishes. After 20 s and after 40 s, a warning appears and
/// lasts for two seconds.
package enum ReplayScene {
  package static let hello = Hello(
    processName: "tiles", processID: 4711, isReadOnly: false, anchor: time(0),
    anchorSecondsSince1970: 1_000, processStarted: time(0))

  package static func time(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  package static func id(_ number: Int) -> OperationReport.ID { .init(UInt64(number)) }

  package static func report(_ number: Int, _ state: OperationState) -> OperationReport {
    let start = time(Double(number))
    return OperationReport(
      id: id(number), name: "tile \(number)", className: "Tile", queue: .init(1), state: state,
      dependencies: number > 1 ? [id(number - 1)] : [], dependentCount: state == .finished ? 1 : 0,
      added: start, becameReady: start, started: start,
      finished: state == .finished ? time(Double(number + 1)) : nil)
  }

  package static func update(_ second: Int) -> Update {
    var counts = StateCounts()
    (counts.executing, counts.finished, counts.total) = (1, second - 1, second)
    var update = Update(
      time: time(Double(second)),
      queues: [QueueReport(id: .init(1), name: "cpu", counts: counts, width: 1)],
      changed: (second > 1 ? [report(second - 1, .finished)] : []) + [report(second, .executing)])
    if [20, 21, 40, 41].contains(second) {
      update.warnings = [MonitorWarning(kind: .slow, operations: [id(second / 20 * 20)], count: 1)]
    }
    return update
  }

  package static func bytes(seconds: Int = 60, isFinished: Bool = true) -> [UInt8] {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(hello))
    for second in 1...seconds { bytes += writer.add(.update(update(second))) }
    return isFinished ? bytes + writer.finish() : bytes
  }

  package static func reader(_ bytes: [UInt8] = bytes()) throws -> RecordingReader {
    try RecordingReader(size: bytes.count) { offset, count in
      let start = max(0, min(offset, bytes.count))
      return Array(bytes[start..<min(bytes.count, start + count)])
    }
  }
}
