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

@Suite("Files of a run that are not needed", .timeLimit(.minutes(5)), .onOwnThread)
struct UselessFilesTests {
  @Test("RD-8: The files of an attempt are not deleted while its command may be alive")
  func livingCommand() throws {
    let scene = try RunScene()
    let run = try scene.finished("  quiet: {run: 'true'}\n  loud: {run: 'echo loud'}")
    let jobs = run.run.directory.jobs
    let shim = DirectoryScene.lock("\(jobs)/1-quiet.1.shim")
    // Another test may be starting a process, which then has a copy of the locked file.
    let other = "\(jobs)/2-loud.1.shim"
    #expect(poll(for: .seconds(60), pausing: true) { !DirectoryScene.isLocked(other) })
    run.run.deleteUselessFiles()
    #expect(
      DirectoryScene.names(in: jobs) == [
        "1-quiet.1.log", "1-quiet.1.shim", "1-quiet.1.status", "2-loud.1.log", "2-loud.1.status",
      ])
    DirectoryScene.unlock(shim)
    run.run.deleteUselessFiles()
    #expect(
      DirectoryScene.names(in: jobs) == ["1-quiet.1.status", "2-loud.1.log", "2-loud.1.status"])
  }
}
