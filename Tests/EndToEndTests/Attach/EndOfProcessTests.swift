// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

/// Tests with the fixture `ending`, which runs 101 operations as soon as a viewer watches it, and then ends.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct EndOfProcessTests {
  private static let operationCount = 101

  private func start(_ end: String) throws -> MonitoredProcess {
    try MonitoredProcess(BuiltFolder.path(of: "fixture-ending"), [end], until: "listening at")
  }

  /// Records a process until it ends. Returns the last state in the recording, and the output of the recorder.
  private func record(_ process: MonitoredProcess) throws -> (state: ProcessState, words: String) {
    let file = process.runtime.file("end.opqrec")
    let (_, errors, ending) = try process.run(["record", "-p", "\(process.id)", "-o", file])
    #expect(ending == .status(0), "\(errors)")
    var reader = try RecordingReader(path: file)
    var state = ProcessState()
    var offset = reader.snapshot(upTo: reader.start)
    while let update = reader.update(at: offset) {
      state.apply(update.update, isWhole: update.isWhole)
      offset = update.end
    }
    return (state, errors)
  }

  @Test(
    "A recording contains the whole run of a short process, whichever thread ends the process",
    arguments: [("main", 0), ("operation", 3), ("observer", 3)] as [(String, Int32)])
  func recordsTheEnd(_ end: String, _ status: Int32) throws {
    let process = try start(end)
    let (state, words) = try record(process)
    #expect(words.contains("the process has exited"))
    #expect(process.waitForEnd() == .status(status))
    let last = state.operations.all.first { $0.name == "last" }
    // An operation that calls `exit` has not finished.
    let isFinished = end != "operation"
    #expect(last?.state == (isFinished ? .finished : .executing))
    let finished = state.operations.all.count { $0.state == .finished }
    #expect(finished >= Self.operationCount - (isFinished ? 0 : 1))
    let batch = state.queues.first { $0.name == "batch" }?.counts
    #expect(batch?.finished == finished)
    // No file of the process remains.
    #expect(process.socket == "")
  }

  @Test("A recording contains the whole run of a process that stops listening")
  func recordsTheStop() throws {
    let process = try start("stop")
    let (state, words) = try record(process)
    #expect(words.contains("the process has stopped listening"))
    #expect(state.counts.finished == Self.operationCount)
    #expect(state.operations.all.count { $0.state == .finished } == Self.operationCount)
    process.signal(SIGUSR1)
    #expect(process.waitForEnd() == .status(0))
  }

  @Test("The farewell and the last update count the completion blocks that have not begun")
  func countsCompletionBlocks() throws {
    let process = try start("completion")
    let (state, words) = try record(process)
    #expect(state.counts.finished == Self.operationCount)
    #expect(words.contains("completion blocks have not begun"))
    #expect(try #require(state.latest).unstartedCompletionBlockCount > 0)
    #expect(process.waitForEnd() == .status(0))
  }

  @Test("A process that crashes is shown as one, with the age of its last update")
  func showsCrash() throws {
    let process = try start("abort")
    let viewer = try process.watch(["-p", "\(process.id)"], until: "last")
    process.signal(SIGUSR1)
    #expect(process.waitForEnd() == .signal(SIGABRT))
    #expect(
      viewer.wait { $0.contains("EXITED ") && $0.contains("the process crashed or was killed, ") })
    #expect(viewer.screen.contains("after its last update"))
    viewer.type("Q")
    #expect(viewer.waitForEnd() == .status(0))
  }

  @Test("A viewer that is stopped delays the end of a process by about a second at most")
  func stoppedViewer() throws {
    let process = try start("signal")
    let viewer = try process.watch(["-p", "\(process.id)"], until: "101")
    viewer.signal(SIGSTOP)
    let id = try #require(viewer.child)
    #expect(poll(for: .seconds(30)) { ProcessStatus.areThreadsStopped(of: id) })
    let start = ContinuousClock.now
    process.signal(SIGUSR1)
    #expect(process.waitForEnd() == .status(0))
    let time = ContinuousClock.now - start
    #expect(time > .milliseconds(500) && time < .seconds(5), "\(time)")
    viewer.signal(SIGCONT)
    #expect(viewer.wait { $0.contains("EXITED ") && $0.contains("the process has exited") })
    viewer.type("Q")
    #expect(viewer.waitForEnd() == .status(0))
  }

  @Test("An operation may end the process while a viewer cancels it")
  func exitsInCancel() throws {
    let process = try start("cancel")
    let viewer = try process.watch(["-p", "\(process.id)"], until: "exiting")
    let start = ContinuousClock.now
    let id = try process.line(after: "blocked: ")
    let (_, errors, _) = try process.run(["cancel", id, "-p", "\(process.id)"])
    #expect(process.waitForEnd() == .status(3), "\(errors)")
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(viewer.wait { $0.contains("EXITED ") && $0.contains("the process has exited") })
    viewer.type("Q")
    #expect(viewer.waitForEnd() == .status(0))
  }

  @Test("A program that replaces itself by exec inherits no socket, and can listen again")
  func executes() throws {
    let process = try start("exec")
    let viewer = try process.watch(["-p", "\(process.id)"], until: "LIVE")
    // The viewer connects to the new program, which has the same process id, and thereby starts its batch.
    #expect(process.waitForEnd() == .status(0))
    #expect(try process.line(after: "descriptors: ") == "[]")
    #expect(viewer.wait { $0.contains("EXITED ") && $0.contains("the process has exited") })
    #expect(process.socket == "")
    viewer.type("Q")
    #expect(viewer.waitForEnd() == .status(0))
  }
}
