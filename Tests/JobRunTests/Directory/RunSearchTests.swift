// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The search for runs", .timeLimit(.minutes(5)), .onOwnThread)
struct RunSearchTests {
  /// Creates the directory of a run with a chosen id and a request.
  private func make(
    _ id: String, in scene: DirectoryScene, created: Int64 = 0
  ) throws -> RunDirectory {
    let run = try scene.run(created: created)
    let path = "\(scene.place.runs)/\(id)"
    #expect(rename(run.path, path) == 0)
    return RunDirectory(path: path)
  }

  @Test("RD-1: The newest run is last")
  func order() throws {
    let scene = try DirectoryScene()
    let second = try make("20260101-000001-aaaa", in: scene)
    let third = try make("20260101-000002-aaaa", in: scene)
    let first = try make("20251231-235959-zzzz", in: scene)
    #expect(try RunStore.all(in: scene.place) == [first, second, third])
    #expect(try RunStore.find(nil, in: scene.place) == third)
  }

  @Test("RD-1: Of the runs of the same second, the one that was created last is the newest")
  func sameSecond() throws {
    let scene = try DirectoryScene()
    let ids = ["20260101-000000-m000", "20260101-000000-z000", "20260101-000000-a000"]
    for (time, id) in ids.enumerated() { _ = try make(id, in: scene, created: Int64(time)) }
    #expect(try RunStore.all(in: scene.place).map(\.id) == ids)
  }

  @Test("RD-1: The beginning of an id finds a run, if no other id begins with it")
  func prefix() throws {
    let scene = try DirectoryScene()
    let run = try make("20260101-000000-aaaa", in: scene)
    _ = try make("20260201-000000-aaaa", in: scene)
    #expect(try RunStore.find("202601", in: scene.place) == run)
    #expect(try RunStore.find("20260101-000000-aaaa", in: scene.place) == run)
    let failure = #expect(throws: RunFailure.self) { try RunStore.find("2026", in: scene.place) }
    #expect(
      failure?.description
        == "the ids of 2 runs begin with “2026”; the newest are 20260101-000000-aaaa, "
        + "20260201-000000-aaaa")
  }

  @Test("RD-1: An unknown id is one sentence with the nearest id, or with the newest one")
  func unknown() throws {
    let scene = try DirectoryScene()
    _ = try make("20260101-000000-aaaa", in: scene)
    _ = try make("20260201-000000-bbbb", in: scene)
    let similar = #expect(throws: RunFailure.self) {
      try RunStore.find("20260101-000000-aaxa", in: scene.place)
    }
    #expect(similar?.description.hasSuffix("; did you mean 20260101-000000-aaaa?") == true)
    let other = #expect(throws: RunFailure.self) {
      try RunStore.find("../../etc\u{1B}", in: scene.place)
    }
    #expect(
      other?.description
        == #"there is no run “../../etc\x1b” in "#
        + "\(scene.place.runs); the newest is 20260201-000000-bbbb")
  }

  @Test("RD-1: A place that does not exist has no runs")
  func noPlace() throws {
    let scene = try DirectoryScene()
    #expect(try RunStore.all(in: scene.place).isEmpty)
    let failure = #expect(throws: RunFailure.self) { try RunStore.find(nil, in: scene.place) }
    #expect(failure?.description == "there are no runs in \(scene.place.runs)")
  }

  @Test("RD-1: Files and directories with other names than ids are no runs")
  func otherNames() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let names = [
      "notes", ".new-20260101-000000-aaaa", "20260101-000000-AAAA", "20260101-000000-aaaaa",
    ]
    for name in names {
      #expect(mkdir("\(scene.place.runs)/\(name)", 0o700) == 0)
    }
    DirectoryScene.write("", to: "\(scene.place.runs)/20260101-000000-file")
    #expect(try RunStore.all(in: scene.place) == [run])
  }

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

  @Test("RD-8: A deletion also deletes what an earlier one has left")
  func remains() throws {
    let scene = try DirectoryScene()
    let (run, left) = (try scene.run(), try scene.run())
    #expect(rename(left.path, "\(scene.place.runs)/.deleted-\(left.id)") == 0)
    try RunStore.delete(run)
    #expect(DirectoryScene.names(in: scene.place.runs).isEmpty)
  }
}
