// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
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
    return (try lastState(in: file), errors)
  }

  private func lastState(in file: String) throws -> ProcessState {
    var reader = try RecordingReader(path: file)
    var state = ProcessState()
    var offset = reader.snapshot(upTo: reader.start)
    while let update = reader.update(at: offset) {
      state.apply(update.update, isWhole: update.isWhole)
      offset = update.end
    }
    return state
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

  @Test("The attempts of a retry are in why, in the tree, in JSON and in the recording")
  func showsAttempts() throws {
    let process = try start("retry")
    let file = process.runtime.file("retry.opqrec")
    let recorder = try process.watch(["-p", "\(process.id)", "--record", file], until: "page")
    let id = try process.line(after: "retry: ")
    func run(_ arguments: String...) throws -> String {
      let (output, errors, ending) = try process.run(arguments + ["-p", "\(process.id)"])
      #expect(ending == .status(0), "\(errors)")
      return output
    }
    // The third attempt executes until the process receives a signal.
    #expect(recorder.wait { $0.contains("attempt 3 of 5") })
    let why = try run("why", id)
    #expect(why.contains(": executing "))
    #expect(why.contains(", attempt 3 of 5; attempt 2 failed: attempt 2 timed out\n"))
    #expect(why.contains(" attempt 3 of the page executing "))
    let tree = try run("tree", id)
    #expect(tree.contains("attempt 1 #") && tree.contains("attempt 3 of the page"))
    let (json, _, _) = try process.run(
      ["-p", "\(process.id)", "--batch", "-n", "1", "--json", "--filter", "kind:download"])
    let frame = try JSONDecoder().decode(BatchFrame.self, from: Data(json.utf8))
    let retry = try #require(frame.operations.first)
    #expect(frame.operations.count == 1 && retry.name == "page" && retry.kind == "download")
    #expect(retry.attempts?.map(\.state) == [.failed, .failed, .executing])
    #expect(retry.attempts?.map(\.error) == [nil, "attempt 2 timed out", nil])
    #expect(frame.counts.total == Self.operationCount + 1 && frame.counts.failed == 0)

    process.signal(SIGUSR1)
    #expect(process.waitForEnd() == .status(0))
    #expect(recorder.wait { $0.contains("EXITED ") })
    recorder.type("Q")
    #expect(recorder.waitForEnd() == .status(0))
    let state = try lastState(in: file)
    let recorded = try #require(state.operations.all.first { $0.name == "page" })
    #expect(recorded.state == .finished && recorded.attempts?.number == 3)
    #expect(recorded.attempts?.attempts.map(\.state) == [.failed, .failed, .finished])
    #expect(state.counts.total == Self.operationCount + 1)
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
