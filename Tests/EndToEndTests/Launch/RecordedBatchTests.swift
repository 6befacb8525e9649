// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import RunAnalysis
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests in which `opq-top record` records `demo-batch`, a tool that processes 2,000 files.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct RecordedBatchTests {
  private static let program = BuiltFolder.path(of: "demo-batch")
  private static let operationCount = 8_001

  private func history(_ scene: LaunchScene) throws -> RunHistory {
    RunHistory(try RecordingReader(path: scene.file("run.opq")))
  }

  @Test("The recording of a batch ends after its last operation, which ends the critical path")
  func wholeRun() throws {
    let scene = try LaunchScene()
    // Each reading takes 20 ms, so that the recording has time for all operations.
    let ending = try scene.run(["record", "-o", scene.file("run.opq"), "--", Self.program, "20"])
    #expect(ending == .status(0), "\(scene.contents("errors"))")
    let counts = try scene.recorded("run.opq").counts
    #expect(counts.total == Self.operationCount && counts.unfinished == 0)
    #expect(counts.failed == 10 && counts.cancelled == 25)
    let history = try history(scene)
    let path = try #require(CriticalPath(of: history))
    let last = path.operations.last.flatMap { history.operations[$0] }
    #expect(path.isOfWholeRun && last?.name == "write the index")
    let skipped = try #require(history.operations.values.first { $0.name == "write 2000.txt" })
    let (why, status) = try BuiltProgram.output([
      "why", "\(skipped.id.rawValue)", "--ascii", "--recording", scene.file("run.opq"),
    ])
    #expect(status == .status(0))
    #expect(why.contains("read 2000.txt") && why.contains("failed: No such file or directory"))
    #expect(why.contains(", through #"), "\(why)")
  }

  /// Interrupts a batch with Ctrl-C, and returns its scene.
  private func interruptedScene() throws -> LaunchScene {
    let scene = try LaunchScene()
    let window = try scene.start([
      "record", "-o", scene.file("run.opq"), "--", Self.program, "1000",
    ])
    // Each reading takes a second, and eight files are read at once, so the batch takes 250 s.
    #expect(
      poll(for: .seconds(60), pausing: true) {
        (try? scene.recorded("run.opq").operations.all.contains { $0.name == "write 2000.txt" })
          == true
      })
    window.signal(SIGINT)
    #expect(window.waitForEnd() == .signal(SIGINT))
    return scene
  }

  @Test("After Ctrl-C, the batch ends by the signal, and the recording names the reason")
  func interrupted() throws {
    var scene = try interruptedScene()
    // On a busy machine, the process may not send its last update in time.
    for _ in 0..<2 where try scene.recorded("run.opq").counts.unfinished > 0 {
      scene = try interruptedScene()
    }
    #expect(scene.contents("output").hasPrefix("interrupted; the index was not written\n"))
    let counts = try scene.recorded("run.opq").counts
    #expect(counts.total == Self.operationCount && counts.unfinished == 0)
    #expect(counts.cancelled > Self.operationCount / 2)
    let index = try #require(
      try history(scene).operations.values.first { $0.name == "write the index" })
    #expect(index.cancellationCause == .queue(index.queue, reason: "interrupted by Ctrl-C"))
  }
}
