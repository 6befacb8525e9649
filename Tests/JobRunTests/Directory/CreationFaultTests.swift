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

@Suite("Faults at the creation of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct CreationFaultTests {
  @Test("RD-6: A creation that fails leaves nothing", arguments: FaultyDisk.Call.allCases)
  func nothingIsLeft(call: FaultyDisk.Call) throws {
    let scene = try DirectoryScene()
    let place = RunPlace.beside(file: scene.directory.file("jobs.yaml"))
    for number in 1... {
      let disk = FaultyDisk().disk(failing: call, at: number)
      do {
        _ = try RunStore.create(
          in: place, request: scene.request(), input: [1], plan: DirectoryScene.plan(), disk: disk)
        // All calls before this number have failed in an earlier round.
        #expect(number > 3)
        return
      } catch let failure as RunFailure {
        #expect(failure.description.hasPrefix("cannot "), "\(failure)")
        #expect(failure.description.contains(": No space left on device"), "\(failure)")
        #expect(DirectoryScene.names(in: scene.directory.path).isEmpty, "call \(number)")
      }
    }
  }

  @Test("RD-6: A creation that fails leaves the runs that exist")
  func otherRunsRemain() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let disk = FaultyDisk().disk(failing: .sync, at: 2, with: EIO)
    #expect(throws: RunFailure.self) { try scene.run(disk: disk) }
    #expect(DirectoryScene.names(in: scene.place.runs) == [run.id])
  }

  @Test("RD-6: If the place cannot be created, a sentence names the option for another place")
  func placeIsNoDirectory() throws {
    let scene = try DirectoryScene()
    let file = scene.directory.file("file")
    DirectoryScene.write("", to: file)
    let failure = #expect(throws: RunFailure.self) {
      try RunStore.create(
        in: RunPlace(state: file), request: scene.request(), input: nil,
        plan: DirectoryScene.plan())
    }
    #expect(
      failure?.description
        == "cannot create the directory \(file): File exists; "
        + "--state names another place for the files of a run")
    #expect(DirectoryScene.names(in: scene.directory.path) == ["file"])
  }

  @Test("RD-6: If the place is a link to nothing, a sentence says that it cannot be created")
  func linkToNothing() throws {
    let scene = try DirectoryScene()
    #expect(symlink("nowhere", scene.place.runs) == 0)
    let failure = #expect(throws: RunFailure.self) { try scene.run() }
    #expect(
      failure?.description.hasPrefix("cannot create the directory \(scene.place.runs)") == true)
  }

  @Test("RD-6: A file system that gives other users access is refused")
  func sharedFileSystem() throws {
    let scene = try DirectoryScene()
    let disk = RunDisk(createDirectory: { path in
      mkdir(path, 0o700) == 0 && chmod(path, 0o777) == 0 ? 0 : errno
    })
    let failure = #expect(throws: RunFailure.self) { try scene.run(disk: disk) }
    #expect(failure?.description.hasPrefix("other users can write to ") == true)
    #expect(
      failure?.description.hasSuffix("; --state names another place for the files of a run")
        == true)
    #expect(DirectoryScene.names(in: scene.directory.path).isEmpty)
  }

  @Test("RD-6: A path with control characters is escaped in a sentence")
  func escapedPath() throws {
    let scene = try DirectoryScene()
    let file = scene.directory.file("a\u{1B}[2J\nb")
    DirectoryScene.write("", to: file)
    let failure = #expect(throws: RunFailure.self) {
      try RunStore.all(in: RunPlace(state: file))
    }
    #expect(failure?.description.contains(#"a\x1b[2J\nb"#) == true)
  }

  @Test("RD-6: If the new plan cannot be written, the earlier plan remains")
  func planRemains() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    for call in [FaultyDisk.Call.write, .sync] {
      let disk = FaultyDisk().disk(failing: call)
      #expect(throws: RunFailure.self) { try disk.replace(run.plan, [1]) }
    }
    #expect(RunScene.contents(run.plan) == (try DirectoryScene.plan().jsonLine))
    #expect(DirectoryScene.names(in: run.path).count == 4)
  }

  @Test("RD-6: A limit for the size of files is one sentence and does not end the process")
  func sizeLimitInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let scene = try DirectoryScene()
      // The request has more bytes.
      let earlier = DirectoryScene.limitFileSizes(16)
      let failure = #expect(throws: RunFailure.self) { try scene.run() }
      // The process may write a profile at its end.
      DirectoryScene.limitFileSizes(earlier)
      #expect(failure?.description.hasSuffix("request.json: File too large") == true)
      #expect(DirectoryScene.names(in: scene.directory.path).isEmpty)
    }
  }
}
