// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Operations
import OperationsCollector
import TestSupport
import Testing

@testable import OpqTop

@Suite("The end of a recording", .timeLimit(.minutes(10))) struct RecorderTests {
  @Test("The last events before the end are in the recording", arguments: 1...10)
  func holdsTheEndInOwnProcess(round: Int) async {
    // The test runs in a separate process, because the operations of other tests could be too many
    // for one update.
    await #expect(processExitsWith: .success) { [round] in
      try await onOwnThread { try RecorderTests.checkTheEnd(round) }
    }
  }

  private static func checkTheEnd(_ round: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.opq")
    let recorder = Recorder(.everything, wake: {})
    recorder.open { wake in
      MonitorSession(
        minimumInterval: Recorder.interval, interest: .everything, isReadOnly: true, wake: wake)
    }
    try recorder.begin(into: path, replaces: false)
    let queue = OperationQueue()
    queue.name = "the end of \(round)"
    for _ in 0..<round {
      let operation = BlockOperation {}
      queue.addOperations([operation], waitUntilFinished: true)
    }
    let outcome = recorder.finish()
    #expect(outcome.failure == nil && outcome.endedReason == nil)
    var reader = try RecordingReader(path: path)
    var queues: [QueueReport] = []
    var offset = reader.snapshot(upTo: reader.start)
    while let update = reader.update(at: offset) {
      queues = update.update.queues
      offset = update.end
    }
    let mine = try #require(queues.first { $0.name == queue.name })
    #expect(mine.counts.finished == round && reader.fault == nil)
  }
}
