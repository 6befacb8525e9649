// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCommands

@Suite("The time limit of a job of Slurm, and the copy of its output") struct SlurmJobTimeoutTests {
  // MARK: The time limit

  @Test("SL-23: The time in which a job is pending does not count")
  func pending() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("PENDING", nodes: "")
    #expect(scene.take(.time, after: .seconds(3600)) == [])
    _ = scene.show("RUNNING")
    _ = scene.read(sign: "0 7")
    #expect(scene.take(.time, after: .seconds(9)) == [])
    #expect(scene.take(.time, after: .seconds(1)) == [.cancel])
    #expect(scene.job.hasExpired)
    #expect(scene.show("CANCELLED") == [.finish(.stopped)])
  }

  @Test("SL-23: The time in which Slurm prepares the nodes of a job does not count")
  func preparation() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("CONFIGURING")
    #expect(scene.take(.time, after: .seconds(3600)) == [])
    _ = scene.show("RUNNING")
    #expect(scene.take(.time, after: .seconds(599)) == [])
    _ = scene.read(sign: "0 7")
    #expect(scene.take(.time, after: .seconds(10)) == [.cancel])
  }

  @Test("SL-23: The time limit also applies if the wrapper cannot write its file")
  func withoutFile() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("RUNNING")
    #expect(scene.take(.time, after: .seconds(600)) == [])
    #expect(scene.take(.time, after: .seconds(10)) == [.cancel])
  }

  @Test("SL-23: The first sign of the wrapper replaces an assumed start")
  func signAfterAssumedStart() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("RUNNING")
    #expect(scene.take(.time, after: .seconds(600)) == [])
    #expect(scene.take(.time, after: .seconds(5)) == [])
    _ = scene.read(sign: "0 7")
    #expect(scene.take(.time, after: .seconds(9)) == [])
    #expect(scene.take(.time, after: .seconds(1)) == [.cancel])
  }

  @Test("SL-23: A job that has exceeded its time limit is cancelled once")
  func once() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("RUNNING")
    _ = scene.read(sign: "0 7")
    #expect(scene.take(.time, after: .seconds(20)) == [.cancel])
    #expect(scene.take(.time, after: .seconds(20)) == [])
  }

  @Test("SL-23: The time begins with the start on the node, which another process may have missed")
  func adopted() {
    let submission = SlurmSubmission(comment: "opq-1", name: "make", id: 7, submitted: 1000)
    var scene = SlurmJobScene(adopting: submission, timeout: .seconds(60))
    _ = scene.begin()
    // The wrapper has changed its file eleven times.
    #expect(scene.read(sign: "11 7") == [])
    #expect(scene.take(.time, after: .seconds(4)) == [])
    #expect(scene.take(.time, after: .seconds(1)) == [.cancel])
  }

  @Test("SL-23: A job that Slurm starts a second time has the whole time again")
  func requeued() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("RUNNING")
    _ = scene.read(sign: "0 7")
    _ = scene.take(.time, after: .seconds(9))
    _ = scene.show("PENDING", nodes: "")
    _ = scene.show("RUNNING")
    #expect(scene.take(.time, after: .seconds(9)) == [])
    #expect(scene.take(.time, after: .seconds(1)) == [.cancel])
  }

  @Test("SL-23: A command whose exit status is known has not exceeded its time limit")
  func ended() {
    var scene = SlurmJobScene.submitted(timeout: .seconds(10))
    _ = scene.show("RUNNING")
    #expect(scene.read(sign: "0 7", status: .exited(3)) == [])
    #expect(scene.take(.time, after: .seconds(20)) == [])
    #expect(scene.show("FAILED") == [.finish(.exited(3))])
    #expect(!scene.job.hasExpired)
  }

  // MARK: The copy

  private func part(_ text: String, at position: Int64) -> SlurmFileContents.Part {
    .init(requested: position, position: position, bytes: Array(text.utf8))
  }

  @Test("SL-19: The output is copied, and another process continues the copy")
  func copied() throws {
    let directory = try TemporaryDirectory()
    let copy = SlurmCopy(path: directory.file("log"))
    #expect(copy.size == 0)
    #expect(copy.add(part("one\n", at: 0)) == nil && copy.size == 4)
    let second = SlurmCopy(path: directory.file("log"))
    #expect(second.add(part("two\n", at: second.size)) == nil && copy.size == 8)
  }

  @Test("SL-19: If the command empties its output, the copy is emptied")
  func emptied() throws {
    let directory = try TemporaryDirectory()
    let copy = SlurmCopy(path: directory.file("log"))
    _ = copy.add(part("a long line\n", at: 0))
    #expect(copy.add(part("x\n", at: 0)) == nil && copy.size == 2)
  }

  @Test("SL-19: A copy that cannot be written has the words of the system")
  func unwritable() {
    let reason = SlurmCopy(path: "/none/log").add(part("one\n", at: 0))
    #expect(reason == "No such file or directory")
  }
}
