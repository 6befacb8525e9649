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
        == #"the ids of 2 runs begin with "2026"; the newest are 20260101-000000-aaaa, "#
        + "20260201-000000-aaaa")
    #expect(failure?.isAboutMissingRun == false)
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
        == #"there is no run "../../etc\x1b" in "#
        + "\(scene.place.runs); the newest is 20260201-000000-bbbb")
    #expect(similar?.isAboutMissingRun == true && other?.isAboutMissingRun == true)
  }

  @Test("RD-1: A place that does not exist has no runs")
  func noPlace() throws {
    let scene = try DirectoryScene()
    #expect(try RunStore.all(in: scene.place).isEmpty)
    let failure = #expect(throws: RunFailure.self) { try RunStore.find(nil, in: scene.place) }
    #expect(failure?.description == "there are no runs in \(scene.place.runs)")
    #expect(failure?.isAboutMissingRun == true)
  }

  @Test("RD-1: A place that cannot be read is not a place without runs")
  func unreadablePlace() throws {
    let scene = try DirectoryScene()
    DirectoryScene.write("", to: scene.place.runs)
    let failure = #expect(throws: RunFailure.self) { try RunStore.find(nil, in: scene.place) }
    #expect(failure?.description == "\(scene.place.runs) is not a directory")
    #expect(failure?.isAboutMissingRun == false)
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
}
