// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol
import MonitorTestSupport
import Operations
import OperationsCollector
import Synchronization
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

  /// A source that delivers the messages of a process that has ended or was lost.
  private final class Source: MonitorSource {
    let loss: (any Error)?
    private let messages: Mutex<[MonitorMessage]>

    init(_ reason: String, loss: AttachError?) {
      self.loss = loss
      messages = Mutex([
        .hello(ReplayScene.hello), .update(ReplayScene.update(1)), .ended(reason: reason),
      ])
    }

    func takeMessages() -> [MonitorMessage] {
      messages.withLock { messages in
        defer { messages = [] }
        return messages
      }
    }
    func watch(_ interest: Interest) {}
    func send(_ command: MonitorCommand) {}
    func invalidate() {}
  }

  @Test(
    "A recording has the name that the recorder was created with, or the name in the greeting",
    arguments: [nil, "tiles"])
  func processName(name: String?) throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("a.opq")
    let recorder = Recorder(.everything, processName: name, wake: {})
    recorder.open { _ in Source("the process has exited", loss: nil) }
    try recorder.begin(into: file, replaces: false)
    recorder.finish()
    let recorded = try RecordingReader(path: file).hello
    #expect(recorded.processName == name ?? ReplayScene.hello.processName)
    #expect(recorded.isSameProcess(as: ReplayScene.hello))
  }

  @Test(
    "A recording is complete if the process is lost, and has a farewell only if the process has ended",
    arguments: [nil, AttachError(.denied, "the login is denied")])
  func lastMessage(loss: AttachError?) throws {
    let reason = loss?.description ?? "the process has exited"
    let directory = try TemporaryDirectory()
    let file = directory.file("a.opq")
    let recorder = Recorder(.everything, wake: {})
    recorder.open { _ in Source(reason, loss: loss) }
    try recorder.begin(into: file, replaces: false)
    let outcome = recorder.finish()
    #expect(outcome.isOver && outcome.isIncomplete == (loss != nil))
    #expect(outcome.loss as? AttachError == loss && outcome.failure == nil)
    #expect(outcome.endedReason == (loss == nil ? reason : nil))
    #expect(outcome.stop(after: 0)?.status == loss?.status)
    #expect(outcome.stop(after: 1) == nil, "the run has reported its own failure")
    var reader = try RecordingReader(path: file)
    var offset = reader.snapshot(upTo: reader.start)
    while let update = reader.update(at: offset) { offset = update.end }
    #expect(offset > 0 && reader.fault == nil)
    #expect(reader.farewell == (loss == nil ? reason : nil))
  }
}
