// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import MonitorProtocol
import Testing

@testable import JobRun
@testable import OpqTop

@Suite("The files of a run that the dashboard watches") struct WatchedRunTests {
  private func run(_ files: StoredFiles) -> WatchedRun {
    WatchedRun(
      files.directory, title: "jobs.yaml", words: RunWords(at: files.directory), socket: "/socket")
  }

  @Test("RD-3: All jobs have ended if the last complete record says so")
  func ends() throws {
    let files = try StoredFiles()
    let run = run(files)
    #expect(!run.haveJobsEnded)
    try files.append(.runner(), StoredFiles.start(), StoredFiles.end())
    #expect(!run.haveJobsEnded)
    try files.append(.finish())
    #expect(run.haveJobsEnded)
    try files.append(.retry(["job"]))
    #expect(!run.haveJobsEnded)
    try files.append(StoredFiles.start("job", 2), StoredFiles.end(attempts: 2), .finish())
    #expect(run.haveJobsEnded)
    try files.append(#"{"event":"runner","#, to: files.directory.journal)
    #expect(!run.haveJobsEnded)
  }

  @Test("RD-3: A text of a command is not taken for the end of the run")
  func hostileReason() throws {
    let files = try StoredFiles()
    let text = #""event":"finish""#
    try files.append(StoredFiles.end("job", .failed, reason: text))
    #expect(!run(files).haveJobsEnded)
    let long = String(repeating: #"{"event":"finish"}"#, count: 1_000)
    try files.append(StoredFiles.end("job", .failed, reason: long))
    #expect(!run(files).haveJobsEnded)
  }

  private static let killed = "the process crashed or was killed, 3s after its last update"

  @Test("RD-3: If the runner has ended, the reason also says whether jobs are left")
  func reasons() throws {
    let files = try StoredFiles()
    let run = run(files)
    let killed = MonitorMessage.ended(reason: Self.killed)
    let command = "opq-top run --resume \(files.directory.path)"
    #expect(run.explained(killed) == .ended(reason: "\(Self.killed); continue with: \(command)"))
    try files.append(.finish())
    #expect(run.explained(killed) == .ended(reason: "\(Self.killed); all jobs have ended"))
    let other = MonitorMessage.disconnected(reason: "reset")
    #expect(run.explained(other) == other)
  }

  @Test("RD-3: While a runner is alive, the end of a connection is no reason to resume the run")
  func livingRunner() throws {
    let files = try StoredFiles()
    let run = run(files)
    let lock = try RunLock.take(files.directory)
    let refused = MonitorMessage.ended(reason: "the process sent a malformed message")
    #expect(run.explained(refused) == refused)
    try files.append(.finish())
    #expect(run.explained(refused) == refused)
    lock.release()
    #expect(run.explained(refused) != refused)
  }

  @Test("RD-3: The lock of a killed runner can be released after the end of its connection")
  func killedRunner() {
    var checks = 0
    let isReleased = WatchedRun.isReleased {
      checks += 1
      return checks < 3 ? 1 : nil
    }
    #expect(isReleased && checks == 3)
  }

  @Test("JR-21: The output of each attempt is found by the journal, also after a resume")
  func outputs() throws {
    let files = try StoredFiles()
    let run = run(files)
    #expect(run.output(of: "job") == nil)
    try files.append(StoredFiles.start())
    let output = try #require(run.output(of: "job"))
    #expect(output.attemptCount() == 1 && output.path(1) == files.log())
    // After a change of the job file, the job has another number.
    try files.append(.start("job", attempt: 2, files: "7-job.2", definition: ""))
    #expect(output.attemptCount() == 2)
    #expect(output.path(2) == "\(files.directory.jobs)/7-job.2.log")
    #expect(output.path(1) == files.log() && output.path(3) == "")
    #expect(run.output(of: "all of job") == nil)
  }

  @Test("RD-3: Only the socket of the runner belongs to the run")
  func sockets() throws {
    let run = run(try StoredFiles())
    #expect(run.isRunner(at: "/socket") && !run.isRunner(at: "/other"))
  }
}
