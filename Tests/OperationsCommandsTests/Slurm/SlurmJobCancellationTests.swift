// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCommands

@Suite("The decisions about a cancelled job of Slurm") struct SlurmJobCancellationTests {
  @Test("SL-12: A submitted job is cancelled in Slurm, and awaited")
  func cancelSubmitted() {
    var scene = SlurmJobScene.submitted()
    #expect(scene.take(.stop) == [.cancel])
    #expect(scene.show("COMPLETING") == [.note, .reportPlace("ending on n1")])
    #expect(scene.show("CANCELLED") == [.finish(.stopped)])
  }

  @Test("SL-12: The request is repeated while Slurm shows that the job has not received it")
  func repeatsRequest() {
    var scene = SlurmJobScene.submitted()
    _ = scene.take(.stop)
    #expect(scene.show("RUNNING").last == .cancel)
    #expect(scene.show("RUNNING").last == .cancel)
  }

  @Test("SL-12: A pending job has ended when scancel has returned")
  func cancelPending() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("PENDING", nodes: "")
    _ = scene.take(.stop)
    let result = SlurmJob.Cancellation.revoked(isReceived: true)
    #expect(scene.take(.cancellation(result)) == [.finish(.stopped)])
    #expect(scene.job.hasEnded)
  }

  @Test("SL-12: A job that is cancelled while sbatch runs is cancelled when its id is known")
  func cancelDuringSubmission() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    #expect(scene.take(.stop) == [])
    #expect(scene.take(.submission(.accepted(id: 7))).last == .cancel)
  }

  @Test("SL-12: If the answer of sbatch was lost, the start of the job is prevented")
  func cancelUnclear() {
    var scene = SlurmJobScene()
    _ = scene.begin()
    _ = scene.take(.stop)
    #expect(scene.take(.submission(.unclear("lost"))) == [.revoke])
    #expect(scene.take(.revocation(.revoked)) == [.abandon, .finish(.stopped)])
    #expect(scene.job.hasEnded)
  }

  @Test("SL-12: If Slurm does not answer, the start of a pending job is prevented")
  func cancelWithoutController() {
    var scene = SlurmJobScene.submitted()
    _ = scene.show("PENDING", nodes: "")
    _ = scene.take(.stop)
    #expect(scene.take(.queue(.failure("connect failure"))) == [.revoke])
    #expect(scene.take(.revocation(.revoked)) == [.abandon, .finish(.stopped)])
  }

  @Test("SL-12: If Slurm does not answer, a running job is awaited until its wrapper has ended it")
  func cancelRunningWithoutController() {
    var scene = SlurmJobScene.submitted()
    _ = scene.read(sign: "0 7")
    _ = scene.take(.stop)
    #expect(scene.take(.queue(.failure("connect failure"))).first?.isReport == true)
    _ = scene.read(sign: "1 7", status: .exited(143))
    #expect(scene.take(.queue(.failure("connect failure"))) == [.finish(.stopped)])
  }
}

@Suite("The decisions about an adopted job of Slurm") struct SlurmJobAdoptionTests {
  private let past = SlurmSubmission(comment: "opq-1", name: "make", id: 7, submitted: 1000)

  @Test("SL-20: A submission of another process is looked for in Slurm, and not repeated")
  func searches() {
    var scene = SlurmJobScene(adopting: past)
    #expect(scene.begin() == [.report("looking for the job in Slurm")])
    #expect(scene.show("RUNNING") == [.reportPlace("running on n1")])
    #expect(scene.job.submission == past)
  }

  @Test("SL-20: The result of a job that has ended in the meantime is in the wrapper's file")
  func endedMeanwhile() {
    var scene = SlurmJobScene(adopting: past)
    _ = scene.begin()
    #expect(scene.read(sign: "4 7", status: .exited(2)) == [])
    #expect(scene.showNothing() == [.finish(.exited(2))])
  }

  @Test("SL-20: A job that has not started and that Slurm does not know is submitted again")
  func neverSubmitted() {
    var scene = SlurmJobScene(adopting: SlurmSubmission(comment: "opq-1", name: "make"))
    _ = scene.begin()
    _ = scene.showNothing()
    #expect(scene.showNothing() == [.revoke])
    #expect(scene.take(.revocation(.revoked)).last == .submit)
  }

  @Test("SL-2, SL-20: A job with the id of the submission and another comment is not the job")
  func reissuedID() {
    var scene = SlurmJobScene(adopting: past)
    _ = scene.begin()
    let other = scene.record("COMPLETED", comment: "opq-2")
    #expect(scene.take(.queue(.records([other]))) == [])
    #expect(scene.take(.queue(.records([other]))) == [.revoke])
  }
}
