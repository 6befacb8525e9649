// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The lock of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct RunLockTests {
  @Test("RD-11: The lock of a run is taken once, and the sentence names the process that has it")
  func taken() throws {
    let run = try DirectoryScene().keptRun()
    let lock = try RunLock.take(run.directory)
    let failure = #expect(throws: RunFailure.self) { try RunLock.take(run.directory) }
    #expect(
      failure?.description
        == "the run \(run.directory.id) is already running (process \(getpid()))")
    lock.release()
    let second = try RunLock.take(run.directory)
    // A second release must not end the lock of another object that has the same descriptor.
    lock.release()
    #expect(RunLock.holder(of: run.directory) == getpid())
    second.release()
  }

  @Test("RD-11: A run has a holder only while the lock is taken")
  func holder() throws {
    let run = try DirectoryScene().keptRun()
    #expect(RunLock.holder(of: run.directory) == nil)
    let lock = try RunLock.take(run.directory)
    #expect(RunLock.holder(of: run.directory) == getpid())
    lock.release()
    // The file still contains the process id.
    #expect(RunScene.contents(run.directory.lock) == "\(getpid())\n")
    #expect(RunLock.holder(of: run.directory) == nil)
  }

  @Test("RD-11: A released lock is free, also if another process has a copy of its open file")
  func copiedFile() throws {
    let run = try DirectoryScene().keptRun()
    let lock = try RunLock.take(run.directory)
    // A process that is being started has copies of all open files.
    let copies = openFiles(of: run.directory.lock).map { dup($0) }
    #expect(copies.count == 1)
    lock.release()
    #expect(RunLock.holder(of: run.directory) == nil)
    for copy in copies { close(copy) }
  }

  /// The descriptors of this process for a file.
  private func openFiles(of path: String) -> [Int32] {
    var (wanted, status) = (stat(), stat())
    #expect(stat(path, &wanted) == 0)
    return (0..<4_096).filter {
      fstat($0, &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino
    }
  }

  @Test("RD-11: A lock without a reference to it is released")
  func unreferenced() throws {
    let run = try DirectoryScene().keptRun()
    var lock: RunLock? = try RunLock.take(run.directory)
    #expect(lock != nil && RunLock.holder(of: run.directory) == getpid())
    lock = nil
    #expect(RunLock.holder(of: run.directory) == nil)
  }

  @Test("RD-11: A lock without a process id has an unknown holder")
  func unknownHolder() throws {
    let run = try DirectoryScene().keptRun()
    let lock = try RunLock.acquire(run.directory)
    #expect(RunLock.holder(of: run.directory) == 0)
    let failure = #expect(throws: RunFailure.self) { try RunLock.take(run.directory) }
    #expect(failure?.description == "the run \(run.directory.id) is already running")
    lock.release()
  }

  @Test("RD-11: The id of an earlier runner is not taken for that of the holder")
  func earlierHolder() throws {
    let run = try DirectoryScene().keptRun()
    try RunLock.take(run.directory).release()
    #expect(RunScene.contents(run.directory.lock) == "\(getpid())\n")
    let lock = try RunLock.acquire(run.directory)
    #expect(RunLock.holder(of: run.directory) == 0)
    lock.release()
    // A process has just taken the lock and has not written its id.
    DirectoryScene.write("999999999\n", to: run.directory.lock)
    let file = DirectoryScene.lock(run.directory.lock)
    defer { DirectoryScene.unlock(file) }
    #expect(RunLock.holder(of: run.directory) == 0)
  }

  @Test("RD-11: A lock that cannot be checked has an unknown holder")
  func uncheckedLock() throws {
    let run = try DirectoryScene().keptRun()
    #expect(symlink(run.directory.lock, run.directory.lock) == 0)
    #expect(RunLock.holder(of: run.directory) == 0)
  }

  @Test("RD-11: If a viewer still shows a run whose jobs have ended, the sentence says so")
  func shownRun() throws {
    let run = try DirectoryScene().keptRun()
    DirectoryScene.write(JournalRecord.finish().line, to: run.directory.journal)
    let lock = try RunLock.take(run.directory)
    let sentence = """
      all jobs of the run \(run.directory.id) have ended, and its runner (process \(getpid())) \
      waits until no dashboard shows it
      """
    let failure = #expect(throws: RunFailure.self) { try RunLock.take(run.directory) }
    #expect(failure?.description == sentence)
    let deletion = #expect(throws: RunFailure.self) { try RunStore.delete(run.directory) }
    #expect(deletion?.description == "\(sentence), so it cannot be deleted")
    lock.release()
  }

  @Test("RD-11: Checks of the lock do not prevent that a runner takes it")
  func checksDuringTake() throws {
    let run = try DirectoryScene().keptRun()
    let (isOver, checks) = (Monitored(false), Monitored(0))
    for _ in 0..<4 {
      startThread {
        while !isOver.value {
          _ = RunLock.holder(of: run.directory)
          checks.change { $0 += 1 }
        }
      }
    }
    defer { isOver.change { $0 = true } }
    checks.wait(for: "checks of the lock") { $0 > 100 }
    for _ in 0..<Effort.scaled(500) { try RunLock.take(run.directory).release() }
  }

  @Test("RD-11: Of several threads that take the lock at the same time, one at a time has it")
  func manyTakes() throws {
    let run = try DirectoryScene().keptRun()
    let holders = Monitored((now: 0, most: 0, total: 0))
    onThreads(4) { _ in
      for _ in 0..<Effort.scaled(1_000) {
        guard let lock = try? RunLock.take(run.directory) else { continue }
        holders.change { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
        holders.change { $0.now -= 1 }
        lock.release()
      }
    }
    #expect(holders.value.most == 1 && holders.value.total > 0)
  }

  @Test("RD-11: The lock of a deleted run cannot be taken")
  func deletedRun() throws {
    let run = try DirectoryScene().keptRun()
    try RunStore.delete(run.directory)
    let failure = #expect(throws: RunFailure.self) { try RunLock.take(run.directory) }
    #expect(
      failure?.description == "cannot lock the run \(run.directory.path): No such file or directory"
    )
    #expect(RunLock.holder(of: run.directory) == nil)
  }
}

/// A run in a place that exists as long as this value.
private struct KeptRun: Sendable {
  let place: TemporaryDirectory
  let directory: RunDirectory
}

extension DirectoryScene {
  fileprivate func keptRun() throws -> KeptRun { KeptRun(place: directory, directory: try run()) }
}
