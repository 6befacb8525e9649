// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@Suite("The main queue, in programs with a main thread of their own")
struct MainQueueProgramTests {
  @Test(
    "MQ-1, MQ-3, MX-10, SA-11, BA-2: operations run one at a time where the main queue is served",
    arguments: ["dispatch-main", "run-loop"])
  func served(by way: String) async throws {
    let run = try await onOwnThread { try FixtureProgram.shared.run("main-queue", way) }
    #expect(run.output == "checked")
    #expect(run.ending == .status(0))
  }

  @Test("MQ-1, MX-10: the same holds in a program with an asynchronous main")
  func asynchronousMain() async throws {
    let run = try await onOwnThread { try FixtureProgram(name: "fixture-async-main").run() }
    #expect(run.output == "checked")
    #expect(run.ending == .status(0))
  }

  @Test(
    "MQ-3: only waiting on the main thread for an operation that must start there is a misuse",
    arguments: ["waiting", "waiting-while-served"])
  func waiting(_ way: String) async throws {
    let run = try await onOwnThread { try FixtureProgram.shared.run("main-queue", way) }
    #expect(run.output == "checked")
    #expect(run.ending == .status(0))
  }

  @Test("MQ-3, MI-1: without a handler it traps with a message instead of hanging")
  func trap() async throws {
    let run = try await onOwnThread { try FixtureProgram.shared.run("main-queue", "trap") }
    #expect(run.output.contains("called on the main thread while"))
    if case .signal = run.ending { return }
    Issue.record("It ended by \(String(describing: run.ending))")
  }
}
