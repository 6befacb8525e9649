// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

@Suite("Failures in the index of a recording") struct FailurePlacesTests {
  private typealias Scene = RecordingScene

  /// Returns an update with these numbers of failed operations in two queues.
  private func update(_ second: Int, failed: (Int, Int)) -> Update {
    var update = Update(time: Scene.time(second))
    update.queues = [failed.0, failed.1].enumerated().map { index, count in
      QueueReport(
        id: .init(UInt64(index + 1)), name: "q",
        counts: StateCounts(finished: count, failed: count, total: count))
    }
    return update
  }

  private func bytes(_ failed: [(Int, Int)], isFinished: Bool) -> [UInt8] {
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(Scene.hello))
    for (index, failed) in failed.enumerated() {
      bytes += writer.add(.update(update(index + 1, failed: failed)))
    }
    return isFinished ? bytes + writer.finish() : bytes
  }

  @Test(
    "RB-2: an update with more failed operations in a queue is a failure", arguments: [true, false])
  func places(isFinished: Bool) throws {
    // The operations of the first update have failed before the recording. A finished queue makes the sum smaller.
    let failed = [(3, 0), (3, 0), (4, 0), (4, 2), (0, 2), (0, 3), (0, 3)]
    let reader = try Scene.reader(bytes(failed, isFinished: isFinished))
    #expect(reader.failureTimes == [3, 4, 6].map { Scene.time($0) })
    #expect(reader.warningTimes == [])
  }

  @Test("RB-2: the index keeps the failures, and refuses failures after the end of the recording")
  func index() throws {
    var index = RecordingIndex()
    index.snapshots = [.init(time: Scene.time(1), offset: 100)]
    index.failures = [.init(time: Scene.time(2), offset: 200)]
    index.end = .init(time: Scene.time(2), offset: 200)
    var read = RecordingIndex()
    for payload in index.payloads { read.take(payload) }
    #expect(read.failures == index.failures && read.isSound(within: 0..<300))
    index.failures = [.init(time: Scene.time(9), offset: 200)]
    #expect(!index.isSound(within: 0..<300), "a failure after the end")
    index.cut(behind: .init(time: Scene.time(1), offset: 100))
    #expect(index.failures == [])
  }
}
