// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The deletion of runs", .timeLimit(.minutes(5)), .onOwnThread)
struct RunDeletionTests {
  @Test("RD-8: A run is deleted with all its files, and links in it are not followed")
  func delete() throws {
    let scene = try DirectoryScene()
    let (run, other) = (try scene.run(), try scene.run())
    let kept = scene.directory.file("kept")
    #expect(mkdir(kept, 0o700) == 0)
    DirectoryScene.write("x", to: kept + "/file")
    #expect(symlink(kept, run.jobs + "/link") == 0)
    for number in 0..<100 { DirectoryScene.write("", to: run.jobs + "/\(number).log") }
    try RunStore.delete(run)
    #expect(DirectoryScene.names(in: scene.place.runs) == [other.id])
    #expect(DirectoryScene.names(in: kept) == ["file"])
  }

  @Test("RD-8: A run whose runner is alive is not deleted")
  func deleteRunning() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let lock = try RunLock.take(run)
    let failure = #expect(throws: RunFailure.self) { try RunStore.delete(run) }
    #expect(
      failure?.description
        == "the run \(run.id) is already running (process \(getpid())), so it cannot be deleted")
    #expect(DirectoryScene.names(in: run.path).count == 5)
    lock.release()
    try RunStore.delete(run)
    #expect(DirectoryScene.names(in: scene.place.runs).isEmpty)
  }

  @Test("RD-6: A run that could not be started is deleted, unless another process has begun it")
  func deleteOnlyIfNew() throws {
    let scene = try DirectoryScene()
    let (new, begun) = (try scene.run(), try scene.run([.runner()]))
    for run in [new, begun] { try RunStore.delete(run, onlyIfNew: true) }
    #expect(DirectoryScene.names(in: scene.place.runs) == [begun.id])
  }

  @Test("RD-8: A run is not deleted while a command of it is alive, in every state")
  func deleteWithCommand() throws {
    let scene = try DirectoryScene()
    let finished = JournalRecord.finish().line
    for journal in [finished, "", "damaged\n"] {
      let run = try scene.run(journal: journal)
      #expect(!run.mayHaveLivingCommand)
      let shim = DirectoryScene.lock(run.files(named: "1-one.1").shim)
      #expect(run.mayHaveLivingCommand)
      let failure = #expect(throws: RunFailure.self) { try RunStore.delete(run) }
      #expect(
        failure?.description
          == "a command of the run \(run.id) is still running, so the run cannot be deleted")
      #expect(RunScene.contents(run.journal) == journal)
      DirectoryScene.unlock(shim)
      try RunStore.delete(run)
    }
    #expect(DirectoryScene.names(in: scene.place.runs).isEmpty)
  }

  @Test("RD-8, JS-3: A run is not deleted while the end of a submission is not known")
  func deleteWithSubmission() throws {
    let scene = try DirectoryScene()
    let plan = try DirectoryScene.plan()
    var request = scene.request()
    request.cluster = RunCluster("slurm")
    let run = try RunStore.create(in: scene.place, request: request, input: nil, plan: plan)
    let submission = SlurmSubmission(comment: "opq-1", name: "one")
    let start = JournalRecord.start(
      "one", attempt: 1, files: "1-one.1", definition: "d", submission: submission)
    DirectoryScene.write(start.line, to: run.journal)
    #expect(run.mayHaveLivingCommand)
    DirectoryScene.write("0 12\n", to: run.files(named: "1-one.1").status)
    #expect(!run.mayHaveLivingCommand)
  }

  @Test("RD-8: A command whose shim was killed is alive")
  func killedShim() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let command = try PseudoTerminal()
    try command.start("/bin/sleep", ["600"])
    let process = try #require(command.child)
    // The shim has written its line, in which it leads its group. The parent of the command is this process.
    let shim = "\(getpid()) (sh) S 1 \(getpid()) \(getpid()) 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 42 0\n"
    DirectoryScene.write(
      shim + RunScene.contents("/proc/\(process)/stat"), to: run.files(named: "1-one.1").shim)
    #expect(run.mayHaveLivingCommand)
    #expect(throws: RunFailure.self) { try RunStore.delete(run) }
    command.signal(SIGKILL)
    _ = command.waitForEnd()
    #expect(!run.mayHaveLivingCommand)
    try RunStore.delete(run)
  }

  @Test("RD-8: A file of a shim that cannot be checked counts as that of a living command")
  func uncheckedShim() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let shim = run.files(named: "1-one.1").shim
    #expect(symlink(shim, shim) == 0)
    #expect(run.mayHaveLivingCommand)
    #expect(throws: RunFailure.self) { try RunStore.delete(run) }
  }

  @Test("RD-8: A damaged run without the directory of its jobs is deleted")
  func deleteDamaged() throws {
    let scene = try DirectoryScene()
    let runs = [try scene.run(), try scene.run()]
    for run in runs { #expect(rmdir(run.jobs) == 0) }
    DirectoryScene.write("", to: runs[0].jobs)
    for run in runs { try RunStore.delete(run) }
    #expect(DirectoryScene.names(in: scene.place.runs).isEmpty)
  }

  @Test("RD-8: What earlier deletions have left is deleted")
  func remains() throws {
    let scene = try DirectoryScene()
    let (run, left) = (try scene.run(), try scene.run())
    #expect(rename(left.path, "\(scene.place.runs)/.deleted-\(left.id)") == 0)
    RunStore.deleteRemains(in: scene.place)
    #expect(DirectoryScene.names(in: scene.place.runs) == [run.id])
  }

  @Test("RD-8: What a killed process has created is deleted after an hour")
  func abandonedCreation() throws {
    let scene = try DirectoryScene()
    let (run, left) = (try scene.run(), try scene.run())
    let path = "\(scene.place.runs)/.new-\(left.id)"
    #expect(rename(left.path, path) == 0)
    #expect(mkdir("\(scene.place.runs)/.new-other", 0o700) == 0)
    let hour = RunID.time(of: left.id) + 3_600_000_000_000
    RunStore.deleteRemains(in: scene.place, at: hour)
    #expect(access(path, F_OK) == 0)
    // The creator is alive.
    let creator = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(creator >= 0 && flock(creator, LOCK_EX | LOCK_NB) == 0)
    RunStore.deleteRemains(in: scene.place, at: hour + 1)
    #expect(access(path, F_OK) == 0)
    DirectoryScene.unlock(creator)
    RunStore.deleteRemains(in: scene.place, at: hour + 1)
    #expect(DirectoryScene.names(in: scene.place.runs) == [".new-other", run.id].sorted())
  }

  @Test("RD-8: A run that is being created is locked, until it is complete")
  func lockedCreation() throws {
    let scene = try DirectoryScene()
    let place = scene.place
    let wasLocked = Monitored(false)
    let system = RunDisk.system
    var disk = system
    disk.sync = { file in
      for name in DirectoryScene.names(in: place.runs) where name.hasPrefix(".new-") {
        RunStore.deleteRemains(in: place)
        let file = open("\(place.runs)/\(name)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let isLocked = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0
        wasLocked.change { $0 = isLocked }
        close(file)
      }
      return system.sync(file)
    }
    // The run seems to be years old.
    let run = try scene.run(disk: disk)
    #expect(wasLocked.value)
    #expect(DirectoryScene.names(in: run.path).count == 4)
    let file = open(run.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
    close(file)
  }
}
