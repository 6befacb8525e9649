// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCommands

@Suite("The decisions about the starts of a job of Slurm") struct SlurmJobStartTests {
  private static func record(_ text: String) throws -> SlurmJob.ExitAnswer {
    .record(try #require(SlurmExit(scontrol: text)))
  }

  // MARK: Second starts

  @Test("SL-4: If a second start ends at once, the first start is awaited while it is alive")
  func secondStart() throws {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    #expect(scene.show("FAILED") == [.note, .askExit])
    let answer = try Self.record("ExitCode=75:0")
    #expect(
      scene.take(.exit(answer))
        == [.report("running, but Slurm shows a second start that has ended")])
    #expect(scene.read(sign: "1 7", after: .seconds(50)) == [])
    #expect(scene.show("FAILED") == [.askExit])
    #expect(scene.take(.exit(answer)) == [])
    #expect(scene.read(sign: "2 7", status: .exited(0)) == [.finish(.exited(0))])
  }

  @Test("SL-5: If a second start ends at once and the first wrapper is dead, the job is lost")
  func secondStartOfDeadJob() throws {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.read(sign: "0 7", after: .seconds(61))
    _ = scene.show("FAILED")
    #expect(scene.take(.exit(try Self.record("ExitCode=75:0"))) == [.finish(.lost)])
    #expect(!scene.job.hasEnded)
  }

  @Test("SL-12: A cancelled command whose second start has ended is requested to end")
  func cancelledSecondStart() throws {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.take(.stop)
    #expect(scene.show("FAILED") == [.note, .askExit])
    #expect(scene.take(.exit(try Self.record("ExitCode=75:0"))).last == .cancel)
    #expect(scene.take(.cancellation(.requested)) == [])
    _ = scene.read(sign: "0 7", after: .seconds(61))
    #expect(scene.show("FAILED") == [.finish(.stopped)])
  }

  // MARK: The next submission

  @Test("SL-4: The state of a job is not used for the next job of the command")
  func nextSubmission() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("PENDING", reason: "Priority", nodes: "")
    _ = scene.show("RUNNING")
    _ = scene.showNothing()
    _ = scene.showNothing()
    #expect(scene.job.isRunning)
    #expect(scene.take(.revocation(.revoked)).last == .submit)
    #expect(!scene.job.isRunning && !scene.job.hasStarted)
    _ = scene.take(.submission(.accepted(id: 8)))
    #expect(scene.show("PENDING", id: 8, reason: "Priority", nodes: "").count == 3)
  }

  @Test("SL-8: A command whose job is cancelled during its start is submitted again once")
  func cancelledDuringStart() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("CANCELLED", nodes: "n1") == [.note, .revoke])
    #expect(scene.take(.revocation(.revoked)).last == .submit)
    _ = scene.take(.submission(.accepted(id: 8)))
    #expect(
      scene.show("CANCELLED", id: 8, nodes: "n1")
        == [.note, .finish(.ended(SlurmState("CANCELLED")))])
  }

  @Test("SL-8: If the result of a revocation is not known, the revocation is repeated")
  func unclearRevocation() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("CANCELLED", nodes: "n1")
    #expect(
      scene.take(.revocation(.unclear("no answer")))
        == [.report("the start cannot be prevented: no answer")])
    #expect(scene.show("CANCELLED", nodes: "n1") == [.revoke])
  }

  @Test("SL-12: A revoked job that Slurm may show later is abandoned")
  func abandons() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    _ = scene.take(.submission(.unclear("lost")))
    _ = scene.take(.stop)
    #expect(scene.take(.revocation(.revoked)) == [.abandon, .finish(.stopped)])
    var pending = SlurmJobScene.submitted()
    _ = pending.take(.stop)
    let result = SlurmJob.Cancellation.revoked(isReceived: false)
    #expect(pending.take(.cancellation(result)) == [.abandon, .finish(.stopped)])
  }

  @Test("SL-9: If Slurm has a job although sbatch failed, the job is awaited")
  func refusedAndStarted() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    _ = scene.take(.submission(.refused("Protocol authentication error")))
    #expect(scene.take(.revocation(.started)) == [])
    #expect(scene.read(sign: "0 7", status: .exited(0)) == [.finish(.exited(0))])
  }

  @Test("SL-9: If a refused job may still start, Slurm is asked for it again")
  func refusedAndUnclear() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    _ = scene.take(.submission(.refused("Invalid partition")))
    #expect(scene.take(.revocation(.unclear("no answer"))).count == 1)
    _ = scene.showNothing()
    #expect(scene.showNothing() == [.revoke])
    #expect(
      scene.take(.revocation(.revoked)) == [.abandon, .finish(.refused("Invalid partition"))])
  }

  // MARK: Cancelling

  @Test("SL-12: The end of a job that runs is awaited after the request to cancel it")
  func cancelRunning() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("RUNNING")
    _ = scene.take(.stop)
    #expect(scene.take(.cancellation(.revoked(isReceived: true))) == [])
    #expect(scene.show("CANCELLED") == [.finish(.stopped)])
  }

  @Test("SL-21: A cancelled command on a failed node is requested to end once for each answer")
  func cancelOnFailedNode() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    #expect(scene.take(.stop) == [.cancel])
    #expect(scene.take(.cancellation(.requested)) == [])
    #expect(scene.show("NODE_FAIL").last == .cancel)
    #expect(scene.take(.cancellation(.requested)) == [])
    #expect(scene.show("NODE_FAIL") == [.cancel])
    _ = scene.read(sign: "0 7", after: .seconds(61))
    #expect(scene.show("NODE_FAIL") == [.finish(.stopped)])
  }

  // MARK: Slurm's record

  @Test("SL-6, SL-17: A failed call for the exit status is not an end, and is repeated")
  func failedQuestion() throws {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("FAILED") == [.note, .askExit])
    #expect(
      scene.take(.exit(.failure("connect failure")))
        == [.report("ended, but Slurm does not answer: connect failure")])
    #expect(!scene.job.hasEnded)
    #expect(scene.show("FAILED") == [.askExit])
    let exit = try #require(SlurmExit(scontrol: "ExitCode=3:0"))
    #expect(scene.take(.exit(.record(exit))) == [.finish(.recorded(exit))])
    #expect(scene.job.hasEnded)
  }

  @Test("SL-5, SL-17: A job without a record is awaited while its wrapper is alive")
  func forgottenButAlive() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.show("FAILED")
    #expect(
      scene.take(.exit(.noRecord)) == [.report("running, but Slurm does not know the job")])
    #expect(scene.read(sign: "1 7", status: .exited(0)) == [.finish(.exited(0))])
  }

  @Test("SL-5: Files that cannot be read do not show that the wrapper is dead")
  func unreadableFiles() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    for _ in 0..<9 { _ = scene.read(isRead: false, after: .seconds(61)) }
    _ = scene.showNothing()
    #expect(scene.showNothing() == [.report("running, but Slurm does not know the job")])
    _ = scene.read(sign: "0 7", after: .seconds(61))
    #expect(scene.showNothing() == [.finish(.lost)])
  }

  @Test("SL-5: If files cannot be read for a long time, the wrapper counts as dead")
  func lastingFault() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    for _ in 0..<12 { _ = scene.read(isRead: false, after: .seconds(61)) }
    _ = scene.showNothing()
    #expect(scene.showNothing() == [.finish(.lost)])
  }

  @Test("SL-12: Files that cannot be read do not delay the end of a cancelled job")
  func cancelledWithFault() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.take(.stop)
    for _ in 0..<2 { _ = scene.read(isRead: false, after: .seconds(61)) }
    _ = scene.showNothing()
    #expect(scene.showNothing() == [.finish(.stopped)])
  }

  @Test("SL-9, SL-12: A refused or cancelled job ends although its start cannot be prevented")
  func lastingRefusal() {
    for isStopped in [false, true] {
      var scene = SlurmJobScene()
      _ = scene.begin()
      _ = scene.take(.submission(.refused("Invalid partition")))
      if isStopped { _ = scene.take(.stop) }
      _ = scene.take(.revocation(.unclear("no answer")))
      var last: [SlurmJob.Action] = []
      for _ in 0..<6 {
        last = scene.showNothing()
        _ = scene.take(.revocation(.unclear("no answer")))
      }
      #expect(
        last == [.abandon, .finish(isStopped ? .stopped : .refused("Invalid partition"))])
    }
  }

  @Test("SL-2: A job that runs on another cluster of a federation is ignored")
  func federation() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("REVOKED") == [])
    #expect(scene.show("REVOKED") == [.revoke])
    #expect(scene.take(.revocation(.started)) == [])
    #expect(scene.show("REVOKED").last?.isReport == true)
  }
}
