// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The dashboard of a run whose runner is another process") struct JobsEndTests {
  private static let configuration = Dashboard.Configuration(
    source: .process("1"), title: "jobs.yaml", launchHint: "q leaves the jobs running",
    runsJobs: true)

  private static func dashboard() -> Dashboard {
    Scene.dashboard(columns: 120, rows: 30, configuration: configuration)
  }

  @Test("JR-20: The header has the name of the job file")
  func title() {
    #expect(Self.dashboard().text().shows("jobs.yaml[4711]"))
    let other = Scene.dashboard(
      configuration: .init(source: .process("1"), title: "tiles", runsJobs: false))
    #expect(other.text().shows("opq-top[4711]") && !other.text().shows("tiles["))
  }

  @Test("JR-20: The status line says that all jobs have ended, until a job is retried")
  func end() {
    var dashboard = Self.dashboard()
    #expect(dashboard.text().shows("q leaves the jobs running"))
    dashboard.take(.jobsEnded(true))
    #expect(dashboard.text().shows("all jobs have ended"))
    dashboard.press("j")
    #expect(dashboard.text().shows("all jobs have ended"))
    dashboard.take(.jobsEnded(false))
    #expect(!dashboard.text().shows("all jobs have ended"))
  }

  @Test("RD-5: After the end of all jobs, commands are still accepted")
  func commandsAfterEnd() {
    var dashboard = Self.dashboard()
    dashboard.take(.jobsEnded(true))
    #expect(dashboard.refusal == nil)
    dashboard.press("x")
    #expect(dashboard.prompts.question?.purpose == .cancel)
  }

  @Test("JR-20: The end of the runner is more important than the end of the jobs")
  func endOfRunner() {
    var dashboard = Self.dashboard()
    dashboard.take(.jobsEnded(true))
    dashboard.take(.monitor(.ended(reason: "the runner has ended")))
    #expect(dashboard.text().shows("the runner has ended; "))
    #expect(dashboard.refusal == .exited)
  }

  @Test("RD-3: q leaves the jobs without a question, also if jobs are tagged")
  func quitting() {
    var dashboard = Self.dashboard()
    #expect(dashboard.press("  q") == [.quit])
  }

  @Test("JR-20: Another process has its own name, and no jobs")
  func otherProcess() {
    var dashboard = Self.dashboard()
    dashboard.take(.jobsEnded(true))
    dashboard.connection.opening = .process("2")
    var hello = Scene.hello
    hello.processName = "server"
    hello.processID = 4712
    dashboard.take(.monitor(.hello(hello)))
    #expect(dashboard.text().shows("server[4712]"))
    #expect(!dashboard.text().shows("all jobs have ended"))
  }
}
