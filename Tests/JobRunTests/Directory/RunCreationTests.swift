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

@Suite("The directory of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct RunCreationTests {
  @Test("RD-1: A new run has its request, its plan, an empty journal and a directory for attempts")
  func files() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    #expect(
      DirectoryScene.names(in: run.path) == ["jobs", "journal.jsonl", "plan.json", "request.json"])
    #expect(try RunRequest.read(run) == scene.request())
    #expect(RunScene.contents(run.plan) == (try DirectoryScene.plan().jsonLine))
    #expect(RunScene.contents(run.journal).isEmpty)
    #expect(DirectoryScene.names(in: scene.place.runs) == [run.id])
  }

  @Test("RD-1: The id of a run is the time of its creation in UTC, and four characters")
  func id() throws {
    let scene = try DirectoryScene()
    let run = try scene.run(created: 1_700_000_000_123_456_789)
    #expect(run.id.hasPrefix("20231114-221320-") && RunID.isValid(run.id))
    #expect(RunID.time(of: run.id) == 1_700_000_000_000_000_000)
  }

  @Test(
    "RD-1: The time in an id is the one of the creation",
    arguments: [0, 951_782_399, 951_868_800, 1_709_164_800, 1_735_689_599, 4_102_444_800] as [Int64]
  )
  func timeInID(seconds: Int64) {
    let id = RunID.make(at: seconds * 1_000_000_000)
    #expect(RunID.isValid(id) && RunID.time(of: id) == seconds * 1_000_000_000, "\(id)")
  }

  @Test("RD-6: An id whose time makes no sense has a time that can be represented")
  func impossibleTimeInID() {
    for id in ["00000000-000000-aaaa", "99999999-999999-aaaa"] {
      #expect(RunID.isValid(id) && RunID.time(of: id) != 0)
      #expect(!RunDirectory(path: "/runs/\(id)").isStarting())
    }
  }

  @Test("RD-1: Only the owner has access to the files, with any file mode mask")
  func permissionsInOwnProcess() async {
    // The mask is the one of the whole process.
    await #expect(processExitsWith: .success) {
      for mask in [0, 0o077, 0o777] as [mode_t] {
        let scene = try DirectoryScene()
        umask(mask)
        let run = try scene.run(input: [1])
        let lock = try RunLock.take(run)
        try RunStore.write(DirectoryScene.plan(), to: run)
        for path in [scene.place.runs, run.path, run.jobs] {
          #expect(DirectoryScene.permissions(path) == 0o700, "\(path) \(mask)")
        }
        for path in [run.request, run.input, run.plan, run.journal, run.lock] {
          #expect(DirectoryScene.permissions(path) == 0o600, "\(path) \(mask)")
        }
        lock.release()
        umask(0o022)
      }
    }
  }

  @Test("RD-1: The run of a job file is in the directory .opq, which Git ignores")
  func besideFile() throws {
    let scene = try DirectoryScene()
    let place = RunPlace.beside(file: scene.directory.file("jobs.yaml"))
    let run = try RunStore.create(
      in: place, request: scene.request(), input: nil, plan: DirectoryScene.plan())
    #expect(run.path == scene.directory.file(".opq/runs/\(run.id)"))
    #expect(RunScene.contents(scene.directory.file(".opq/.gitignore")) == "*\n")
    #expect(DirectoryScene.permissions(scene.directory.file(".opq")) == 0o700)
  }

  @Test("RD-1: A place that the user has chosen gets no file for Git")
  func chosenPlace() throws {
    let scene = try DirectoryScene()
    let place = RunPlace(state: scene.directory.file("new/place"))
    let run = try RunStore.create(
      in: place, request: scene.request(), input: nil, plan: DirectoryScene.plan())
    #expect(run.path == scene.directory.file("new/place/runs/\(run.id)"))
    #expect(DirectoryScene.names(in: scene.directory.file("new/place")) == ["runs"])
  }

  @Test(
    "RD-1: A place is in the directory of the job file, or in the working directory",
    arguments: [
      ("jobs.yaml", ""), ("./jobs.yaml", ""), ("a/b.yaml", "a/"), ("./a/b.yaml", "a/"),
    ])
  func relativeFile(file: String, directory: String) throws {
    let working = RunPlace.absolute(".")
    #expect(working.hasPrefix("/"))
    #expect(RunPlace.beside(file: file).runs == "\(working)/\(directory).opq/runs")
  }

  @Test("RD-1: The jobs from standard input have their place in the working directory")
  func placeWithoutFile() {
    #expect(RunPlace.beside(file: nil).runs == RunPlace.absolute(".") + "/.opq/runs")
    #expect(RunPlace.beside(file: "/jobs.yaml").runs == "/.opq/runs")
  }

  @Test("RD-1: The bytes of jobs from standard input are stored")
  func input() throws {
    let scene = try DirectoryScene()
    let bytes: [UInt8] = [0, 10, 255, 65]
    let run = try scene.run(input: bytes)
    #expect(try RunStore.input(of: run) == bytes)
  }

  @Test("RD-1: Many threads create runs at the same time in a place that does not exist")
  func manyCreations() throws {
    let scene = try DirectoryScene()
    let place = RunPlace.beside(file: scene.directory.file("jobs.yaml"))
    let ids = Monitored<Set<String>>([])
    onThreads(8) { _ in
      for _ in 0..<4 {
        do {
          let run = try RunStore.create(
            in: place, request: scene.request(), input: nil, plan: DirectoryScene.plan())
          ids.change { _ = $0.insert(run.id) }
        } catch {
          Issue.record(error)
        }
      }
    }
    #expect(ids.value.count == 32)
    #expect(try RunStore.all(in: place).count == 32)
  }

  @Test("RD-1: A place behind a link contains the same runs as the place itself")
  func linkedPlace() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    #expect(symlink(scene.directory.path, scene.directory.file("link")) == 0)
    let linked = RunPlace(state: scene.directory.file("link"))
    #expect(try RunStore.find(nil, in: linked) == run)
    let second = try RunStore.create(
      in: linked, request: scene.request(created: 1_800_000_000_000_000_000), input: nil,
      plan: DirectoryScene.plan())
    #expect(try RunStore.find(nil, in: scene.place) == second)
  }

  @Test("RD-1: The plan of a run is replaced in one step")
  func newPlan() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    let plan = try DirectoryScene.plan("  other: {run: 'false'}")
    // An earlier process has ended while it replaced the plan.
    DirectoryScene.write("{", to: run.plan + ".new")
    try RunStore.write(plan, to: run)
    #expect(RunScene.contents(run.plan) == plan.jsonLine)
    #expect(DirectoryScene.names(in: run.path).count == 4)
  }

  @Test("RD-1: The files of an attempt have the number and the id of the job in their names")
  func attemptFiles() {
    let run = RunDirectory(path: "/runs/x")
    #expect(run.files(ofJob: 12, id: "align-2_b.c", attempt: 3).name == "12-align-2_b.c.3")
    let (name, files) = run.files(ofJob: 3, id: "align[a b/../ü]", attempt: 2)
    #expect(name.hasPrefix("3-align_a_b_..____~") && name.hasSuffix(".2"))
    #expect(name.utf8.count == "3-align_a_b_..____~12345678.2".utf8.count)
    #expect(files.log == "/runs/x/jobs/\(name).log" && files == run.files(named: name))
    let long = run.files(ofJob: 1, id: String(repeating: "x", count: 1_000), attempt: 1).name
    #expect(long.utf8.count < 100)
  }

  @Test("RD-4: Jobs of different plans with the same number have different files")
  func filesAreNotShared() {
    let run = RunDirectory(path: "/runs/x")
    let beginning = String(repeating: "x", count: 80)
    let ids = [
      "x[a b]", "x[a_b]", "x[a/b]", "x_a_b_", beginning, beginning + "1", beginning + "2",
      String(beginning.dropLast()), "ü", "é", "__", "",
    ]
    let names = ids.map { run.files(ofJob: 7, id: $0, attempt: 1).name }
    #expect(Set(names).count == ids.count)
    // A plain id cannot have the name of another one.
    let hash = names[0].split(separator: "~")[1].dropLast(2)
    #expect(run.files(ofJob: 7, id: "x_a_b_~\(hash)", attempt: 1).name != names[0])
  }
}
