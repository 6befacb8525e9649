// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of the effects that a viewer and a monitored process have on each other, in particular if
/// one of them ends or stops.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct AttachFaultTests {
  @Test("An operation of another process is cancelled with keys, and that process logs it")
  func cancels() throws {
    let process = try MonitoredProcess()
    let window = try process.watch()
    #expect(window.screen.contains("ATTACHED rw"))
    #expect(window.wait { $0.contains("executing") })
    // The selected operation is at the end of the list, where operations wait for a long time, so
    // it does not finish before it is cancelled.
    window.type("G")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #") })
    window.type("y")
    #expect(window.wait { $0.contains("cancel requested") })
    // The process writes the log on another thread than the answer, so the test waits for the line.
    let deadline = ContinuousClock.now + .seconds(20)
    while !process.logged.contains("cancel #"), ContinuousClock.now < deadline { sched_yield() }
    #expect(process.logged.contains("cancel #"))
    #expect(process.logged.contains("uid=\(geteuid())"))
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T24, T26: When the process is killed, its last frame stays, is marked and can be browsed")
  func targetIsKilled() throws {
    let process = try MonitoredProcess()
    let window = try process.watch()
    #expect(window.wait { $0.contains("executing") })
    process.signal(SIGKILL)
    #expect(
      window.wait { $0.contains("EXITED ") && $0.contains("the process crashed or was killed") })
    // After the process has ended, the viewer disables commands.
    window.type("x")
    #expect(window.wait { $0.contains("commands are disabled") })
    window.type("t")
    #expect(window.wait { $0.contains("EXITED ") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    #expect(!window.screen.isAlternate)
    #expect(window.settings.isCooked)
  }

  @Test("In batch mode, the program exits with 1 when the process ends")
  func targetEndsInBatchMode() throws {
    let process = try MonitoredProcess()
    let viewer = try PseudoTerminal()
    try viewer.start(
      BuiltProgram.path, ["-p", "\(process.id)", "--batch", "-d", "20ms"],
      environment: [MonitoredProcess.variable(process.runtime)])
    #expect(viewer.wait { $0.contains("queue") || $0.contains("QUEUE") })
    process.signal(SIGTERM)
    #expect(process.waitForEnd() == .status(0))
    #expect(viewer.waitForEnd() == .status(1))
  }

  @Test(
    "T27: Killed viewers do not affect the process, and leave no memory behind"
  )
  func viewersAreKilled() throws {
    let process = try MonitoredProcess()
    try process.watch().signal(SIGKILL)
    let first = try process.finishedCount()
    let descriptors = try #require(ProcessStatus.descriptorCount(of: process.id))
    let threads = try #require(ProcessStatus.amount("Threads", of: process.id))
    for _ in 0..<30 {
      let viewer = try process.watch()
      viewer.signal(SIGKILL)
      #expect(viewer.waitForEnd() == .signal(SIGKILL))
    }
    // A viewer that attaches later receives the operations that have finished after the other
    // viewers ended.
    var last = first
    let deadline = ContinuousClock.now + .seconds(60)
    while last <= first, ContinuousClock.now < deadline { last = try process.finishedCount() }
    #expect(last > first)
    // The limits leave a margin, because the process itself opens files and starts threads. It ends threads that it
    // does not need after some seconds.
    #expect(
      poll(for: .seconds(60)) {
        let now = (
          ProcessStatus.descriptorCount(of: process.id) ?? .max,
          ProcessStatus.amount("Threads", of: process.id) ?? .max
        )
        return now.0 <= descriptors + 8 && now.1 <= threads + 8
      })
  }

  @Test(
    "A stopped viewer does not delay the process, and is up to date after it continues")
  func viewerIsStopped() throws {
    let process = try MonitoredProcess(
      BuiltProgram.path, ["demo", "storm", "--speed", "1"], environment: ["OPQ_MONITOR=rw"],
      until: "total")
    let viewer = try process.watch(["-p", "\(process.id)"])
    let other = try process.watch(["-p", "\(process.id)"])
    viewer.signal(SIGSTOP)
    let start = try process.finishedCount()
    // The process makes about 100,000 state changes per second while the stopped viewer reads
    // nothing.
    let goal = start + Effort.scaled(200_000)
    let deadline = ContinuousClock.now + .seconds(120)
    var count = start
    while count < goal, ContinuousClock.now < deadline {
      other.absorb(for: .milliseconds(200))
      count = try process.finishedCount()
    }
    #expect(count >= goal)
    viewer.signal(SIGCONT)
    viewer.forgetScreen()
    viewer.type("\u{C}")
    #expect(viewer.wait { $0.contains("LIVE") && $0.contains("total") })
    for window in [viewer, other] {
      window.type("Q")
      #expect(window.waitForEnd() == .status(0))
    }
  }

  @Test("Three viewers watch at once, and each sees what another one suspends")
  func threeViewers() throws {
    let process = try MonitoredProcess()
    let viewers = try (0..<3).map { _ in try process.watch() }
    viewers[0].type("\t\t")
    // The pressed key has an effect only after the first queue has appeared on the screen.
    #expect(
      viewers[0].wait { screen in
        screen.contains("Narrower") && screen.lines.contains { $0.hasPrefix("▌") }
      })
    viewers[0].type("S")
    #expect(viewers[0].wait { $0.contains("Suspend queue ") && $0.contains("y Yes") })
    viewers[0].type("y")
    for viewer in viewers { #expect(viewer.wait { $0.contains("SUSPENDED") }) }
    #expect(viewers[0].wait { $0.contains("S Resume") })
    viewers[0].type("S")
    #expect(viewers[0].wait { $0.contains("Resume queue ") && $0.contains("y Yes") })
    viewers[0].type("y")
    for viewer in viewers { #expect(viewer.wait { !$0.contains("SUSPENDED") }) }
    for viewer in viewers {
      viewer.type("Q")
      #expect(viewer.waitForEnd() == .status(0))
    }
  }

  @Test("A read-only viewer cannot change anything, and shows that it is read-only")
  func readOnlyViewer() throws {
    let process = try MonitoredProcess()
    let window = try process.watch(["--readonly"])
    #expect(window.screen.contains("ATTACHED ro"))
    #expect(window.wait { $0.contains("executing") })
    window.type("x")
    #expect(window.wait { $0.contains("read-only") })
    #expect(!process.logged.contains("cancel"))
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}
