// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCommands

@Suite("The decisions about a job of Slurm") struct SlurmJobTests {
  private func record(_ text: String) throws -> SlurmJob.ExitAnswer {
    .record(try #require(SlurmExit(scontrol: text)))
  }

  @Test("SL-1: A job that has not been submitted is submitted first")
  func submits() {
    var scene = SlurmJobScene()
    #expect(scene.begin() == [.report("submitting"), .submit])
    #expect(scene.take(.submission(.accepted(id: 7))) == [.note, .report("submitted")])
    #expect(scene.job.submission?.id == 7)
  }

  @Test("SL-9: A refused job fails with the words of Slurm")
  func refused() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    #expect(
      scene.take(.submission(.refused("Invalid partition"))) == [.revoke])
    #expect(
      scene.take(.revocation(.revoked)) == [.abandon, .finish(.refused("Invalid partition"))])
    #expect(scene.job.hasEnded)
  }

  @Test("SL-2: The submission time of the first answer belongs to the identity of the job")
  func learnsTime() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("RUNNING") == [.note, .reportPlace("running on n1")])
    #expect(scene.job.submission?.submitted == 1000)
    #expect(scene.show("RUNNING") == [])
  }

  @Test(
    "SL-2: A job with another comment, another name or an earlier submission time is not the job",
    arguments: [
      ("opq-other", "make", 1000 as Int64), ("", "other", 1000), ("", "make", 999),
    ])
  func otherJob(comment: String, name: String, submitted: Int64) {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("RUNNING")
    let own = scene.submissions[0].comment
    let record = scene.record(
      "FAILED", submitted: submitted, comment: comment.isEmpty ? own : comment, name: name)
    #expect(scene.take(.queue(.records([record]))) == [])
    #expect(scene.take(.queue(.records([record]))) == [.revoke])
  }

  @Test("SL-3: After a lost answer of sbatch, the job is found by its comment")
  func lostAnswer() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    #expect(
      scene.take(.submission(.unclear("no answer")))
        == [.report("submission not confirmed: no answer")])
    #expect(scene.show("PENDING", id: 12, nodes: "") == [.note, .report("pending")])
    #expect(scene.job.submission?.id == 12)
    #expect(scene.submissions.count == 1)
  }

  @Test("SL-4: A job that Slurm does not show twice, and that has not started, is submitted again")
  func lostBeforeStart() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.showNothing() == [])
    #expect(scene.showNothing() == [.revoke])
    let actions = scene.take(.revocation(.revoked))
    #expect(actions.last == .submit)
    #expect(scene.submissions.count == 2)
    #expect(scene.submissions[0].comment != scene.submissions[1].comment)
  }

  @Test("SL-4: If an answer shows the job again, the count of absences begins again")
  func shownAgain() {
    var scene = SlurmJobScene.submitted()
    _ = scene.showNothing()
    _ = scene.show("PENDING", nodes: "")
    #expect(scene.showNothing() == [])
  }

  @Test("SL-4: A job that is lost ten times fails")
  func lostRepeatedly() {
    var scene = SlurmJobScene.submitted()
    for _ in 1..<SlurmJob.mostSubmissions {
      _ = scene.showNothing()
      _ = scene.showNothing()
      _ = scene.take(.revocation(.revoked))
      _ = scene.take(.submission(.accepted(id: 7)))
    }
    _ = scene.showNothing()
    _ = scene.showNothing()
    #expect(scene.take(.revocation(.revoked)) == [.abandon, .finish(.neverStarted)])
    #expect(scene.submissions.count == SlurmJob.mostSubmissions)
  }

  @Test("SL-4: A job that Slurm could not start on its node is submitted again")
  func launchFailure() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("CANCELLED", nodes: "n2") == [.note, .revoke])
    #expect(scene.take(.revocation(.revoked)).last == .submit)
  }

  @Test("SL-8: A job that its user cancels in Slurm while it is pending fails")
  func cancelledInSlurm() {
    var scene = SlurmJobScene.submitted()
    #expect(
      scene.show("CANCELLED", nodes: "") == [.note, .finish(.ended(SlurmState("CANCELLED")))])
  }

  @Test("SL-5: A forgotten job that has started is awaited while its wrapper is alive")
  func forgottenJobRuns() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.showNothing()
    #expect(scene.showNothing() == [.report("running, but Slurm does not know the job")])
    for beat in 1...20 {
      #expect(scene.read(sign: "\(beat) 7", after: .seconds(50)) == [])
      #expect(scene.showNothing() == [])
    }
    #expect(scene.read(sign: "20 7", status: .exited(0)) == [.finish(.exited(0))])
  }

  @Test("SL-5: A forgotten job is lost if its wrapper changes no file for 60 seconds")
  func forgottenJobIsLost() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.showNothing()
    _ = scene.read(sign: "0 7", after: .seconds(60))
    #expect(scene.showNothing() == [.report("running, but Slurm does not know the job")])
    _ = scene.read(sign: "0 7", after: .seconds(1))
    #expect(scene.showNothing() == [.finish(.lost)])
  }

  @Test("SL-5: The time in which no file is read does not count")
  func stoppedProcess() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.showNothing()
    #expect(
      scene.take(.queue(.records([])), after: .seconds(3600))
        == [.report("running, but Slurm does not know the job")])
  }

  @Test("SL-5: If a revocation shows that the job has started, the job is awaited")
  func startedMeanwhile() {
    var scene = SlurmJobScene.submitted()
    _ = scene.showNothing()
    _ = scene.showNothing()
    #expect(scene.take(.revocation(.started)) == [])
    #expect(scene.showNothing() == [.report("running, but Slurm does not know the job")])
    #expect(scene.submissions.count == 1)
  }

  @Test("SL-6: A failed call of squeue is shown, and does not end the job")
  func controllerDoesNotAnswer() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("RUNNING")
    for number in 1...100 {
      let actions = scene.take(.queue(.failure("connect failure")), after: .seconds(10))
      #expect(
        actions
          == (number == 1 ? [.report("running on n1, Slurm does not answer: connect failure")] : [])
      )
    }
    #expect(scene.show("RUNNING") == [.reportPlace("running on n1")])
  }

  @Test("SL-7, SL-17: The exit status of the wrapper's file is that of the command")
  func failed() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("RUNNING")
    #expect(scene.read(sign: "0 7", status: .exited(3)) == [])
    #expect(scene.show("FAILED") == [.finish(.exited(3))])
  }

  @Test("SL-7, SL-21: The exit status of an earlier start of a requeued job does not count")
  func requeued() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("RUNNING")
    _ = scene.read(sign: "0 7", status: .exited(143))
    #expect(scene.show("PENDING", nodes: "", submitted: 2000) == [.note, .report("pending")])
    #expect(scene.read(sign: "0 7") == [])
    #expect(scene.show("COMPLETED", submitted: 2000) == [.finish(.exited(0))])
  }

  @Test("SL-17: Without the wrapper's file, Slurm's record has the exit status")
  func askedExit() throws {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("FAILED") == [.note, .askExit])
    let exit = try #require(SlurmExit(scontrol: "JobId=7 ExitCode=0:9 Comment=x"))
    #expect(scene.take(.exit(.record(exit))) == [.finish(.recorded(exit))])
    #expect(exit.signal == 9 && exit.status == 0)
  }

  @Test("SL-4: A job whose start was prevented by an earlier process is submitted again")
  func preventedEarlier() throws {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("FAILED") == [.note, .askExit])
    #expect(scene.take(.exit(try record("ExitCode=75:0"))) == [.revoke])
    #expect(scene.take(.revocation(.revoked)).last == .submit)
  }

  @Test(
    "SL-17: If the node cannot write the files of the job, the error says so",
    arguments: ["ExitCode=74:0", "ExitCode=0:53"])
  func unusableFiles(exit: String) throws {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("FAILED")
    let reason = "the node cannot use the directory of the cluster"
    #expect(scene.take(.exit(try record(exit))) == [.finish(.unusableFiles(reason))])
  }

  @Test("SL-17: Without a file and without a record, the exit status is not known")
  func unknownExit() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("FAILED")
    #expect(scene.take(.exit(.noRecord)) == [.finish(.unknown)])
  }

  @Test("SL-8: If Slurm ends a job at its time limit, the exit status does not count")
  func timeLimit() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7", status: .exited(143))
    #expect(scene.show("TIMEOUT") == [.note, .finish(.ended(SlurmState("TIMEOUT")))])
  }

  @Test("SL-21: A command on a node that Slurm cannot reach is awaited while its wrapper is alive")
  func failedNode() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    #expect(
      scene.show("NODE_FAIL") == [.note, .report("running, but Slurm shows the node as failed")])
    _ = scene.read(sign: "0 7", after: .seconds(61))
    #expect(scene.show("NODE_FAIL") == [.finish(.ended(SlurmState("NODE_FAIL")))])
  }

  @Test("SL-11: A running job reports its nodes, and a configured one its state")
  func runningNodes() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.show("CONFIGURING", nodes: "n2").last == .reportPlace("configuring on n2"))
    #expect(scene.show("RUNNING", nodes: "n[1-2]") == [.reportPlace("running on n[1-2]")])
  }

  @Test("SL-10: A pending job reports the reason in Slurm's words and in a sentence, once")
  func pendingReason() {
    var scene = SlurmJobScene.submitted()
    #expect(
      scene.show("PENDING", reason: "Priority", nodes: "") == [
        .note, .report("pending: Priority"),
        .log(
          "Slurm has not started the job: Slurm starts jobs with a higher priority first (Priority)"
        ),
      ])
    #expect(scene.show("PENDING", reason: "Priority", nodes: "") == [])
  }
}
