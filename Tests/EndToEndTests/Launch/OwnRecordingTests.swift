// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the environment variables `OPQ_RECORD` and `OPQ_VIEWER` in a process that no viewer watches.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct OwnRecordingTests {
  private func run(
    _ scene: LaunchScene, _ arguments: [String], _ environment: [String]
  ) throws -> PseudoTerminal.Ending? {
    try scene.run(arguments, of: LaunchScene.program, environment: environment)
  }

  @Test("A process records itself from its first operation to its end", arguments: 1...20)
  func complete(round: Int) throws {
    let scene = try LaunchScene()
    let file = scene.file("run.opq")
    #expect(try run(scene, ["exit", "3"], ["OPQ_RECORD=\(file)"]) == .status(3))
    #expect(scene.contents("errors") == "")
    try scene.expectBatch(in: "run.opq")
    var facts = stat()
    #expect(stat(file, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    #expect(try scene.isComplete("run.opq"))
  }

  @Test("The process id replaces %p in the name of the file")
  func processID() throws {
    let scene = try LaunchScene()
    let pattern = scene.file("run-%p.opq")
    let window = try scene.start(
      ["exit", "0"], of: LaunchScene.program, environment: ["OPQ_RECORD=\(pattern)"])
    let process = try #require(window.child)
    #expect(window.waitForEnd() == .status(0))
    try scene.expectBatch(in: "run-\(process).opq")
  }

  @Test("An existing file is not overwritten, one warning is logged, and the program runs")
  func existingFile() throws {
    let scene = try LaunchScene()
    try "kept".write(toFile: scene.file("run.opq"), atomically: true, encoding: .utf8)
    #expect(try run(scene, ["exit", "0"], ["OPQ_RECORD=\(scene.file("run.opq"))"]) == .status(0))
    #expect(scene.contents("run.opq") == "kept")
    #expect(scene.contents("output") == "the batch has finished\n")
    let errors = scene.contents("errors")
    #expect(errors.contains("this process is not recorded: ") && errors.contains("already exists"))
    #expect(errors.split(separator: "\n").count == 1)
  }

  @Test("If the recording reaches a size limit, one warning is logged, and the program runs")
  func sizeLimit() throws {
    let scene = try LaunchScene()
    let line = "ulimit -f 20; exec '\(LaunchScene.program)' grow '\(scene.file("run.opq"))'"
    let ending = try scene.run(
      ["-c", line], of: "/bin/bash", environment: ["OPQ_RECORD=\(scene.file("run.opq"))"])
    #expect(ending == .status(0))
    #expect(scene.contents("output").hasSuffix("the program has finished\n"))
    let warnings = scene.contents("errors").split(separator: "\n").filter {
      $0.contains("the recording of this process stopped: cannot write ")
    }
    #expect(warnings.count == 1)
    // The part before the limit can be replayed.
    let operations = try scene.recorded("run.opq").operations.all
    #expect(operations.contains { $0.name.hasPrefix("operation") })
  }

  @Test(
    "Without standard streams, the program's output does not reach the recording",
    arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
  func closedStreams(redirections: String) throws {
    let scene = try LaunchScene()
    let file = scene.file("run.opq")
    let ending = try scene.run(
      ["-c", "exec '\(LaunchScene.program)' exit 3 \(redirections)"], of: "/bin/bash",
      environment: ["OPQ_RECORD=\(file)"])
    #expect(ending == .status(3))
    try scene.expectBatch(in: "run.opq")
    #expect(try scene.isComplete("run.opq"))
    let bytes = try Data(contentsOf: URL(filePath: file))
    #expect(bytes.firstRange(of: Data("the batch has finished".utf8)) == nil)
  }

  @Test("A forked child does not change the file of its parent")
  func fork() throws {
    let scene = try LaunchScene()
    #expect(try run(scene, ["fork"], ["OPQ_RECORD=\(scene.file("run.opq"))"]) == .status(0))
    try scene.expectBatch(in: "run.opq")
    try scene.expectBatch("after the fork", in: "run.opq")
    #expect(try scene.isComplete("run.opq"))
  }

  @Test("A process can record itself while a viewer that has started it records it too")
  func withViewer() throws {
    let scene = try LaunchScene()
    let ending = try scene.run(
      ["record", "-o", scene.file("viewer.opq"), "--", LaunchScene.program, "exit", "0"],
      environment: ["OPQ_RECORD=\(scene.file("own.opq"))"])
    #expect(ending == .status(0), "\(scene.contents("errors"))")
    try scene.expectBatch(in: "viewer.opq")
    try scene.expectBatch(in: "own.opq")
  }

  @Test(
    "A process does not wait for a viewer that does not exist",
    arguments: ["OPQ_VIEWER=1-1", "OPQ_VIEWER=2147483647-5", "OPQ_VIEWER=nonsense"])
  func staleViewer(variable: String) throws {
    // The wait for a viewer lasts two seconds. The fastest of several runs shows that there is none, even if the
    // machine is busy.
    let fastest = try (1...5).map { _ in
      let scene = try LaunchScene()
      let start = ContinuousClock.now
      #expect(try run(scene, ["exit", "0"], ["OPQ_MONITOR=rw", variable]) == .status(0))
      return ContinuousClock.now - start
    }.min()
    #expect(try #require(fastest) < .seconds(2))
  }
}
