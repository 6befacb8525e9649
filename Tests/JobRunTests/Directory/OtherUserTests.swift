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

@Suite("Runs of other users", .enabled(if: geteuid() == 0))
struct OtherUserTests {
  @Test("RD-6: The superuser can list a run of another user, and cannot resume it")
  func superuser() async throws {
    let scene = try DirectoryScene()
    let run = try scene.run([.runner()])
    let plan = try DirectoryScene.plan()
    let history = try RunHistory.read(run)
    _ = try await Resumption.load(plan, directory: run, history: history)
    #expect(chown(run.path, 65_534, 65_534) == 0)
    let summary = try #require(try RunCatalog.summaries(in: scene.place).first)
    #expect(summary.directory == run && summary.state == .interrupted)
    #expect(try RunHistory.read(run).lastBoot == ThisMachine.bootID)
    let failure = RunFailure(
      "\(run.path) belongs to user 65534, and only this user can resume the run")
    await #expect(throws: failure) {
      try await Resumption.load(plan, directory: run, history: history)
    }
  }
}
