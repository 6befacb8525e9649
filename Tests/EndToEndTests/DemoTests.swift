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

/// Tests of the dashboard of the demo, which the tests control with keys.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct DemoTests {
  /// Returns whether one of the first posters is selected and shows its progress.
  private func isPosterSelected(_ screen: VirtualScreen) -> Bool {
    screen.lines.contains {
      $0.hasPrefix("▌") && $0.contains("executing")
        && $0.contains(/render poster [12] .* [1-9]\d?%/)
    }
  }

  @Test(
    "The first keys x and y cancel a poster that shows its progress",
    arguments: [(80, 24), (120, 40)])
  func xAndYCancelTheSelectedOperation(columns: Int, rows: Int) throws {
    // The demo runs so slowly that the first posters do not end during the test.
    let window = try BuiltProgram.start(columns: columns, rows: rows, ["--speed", "0.1"])
    // The user first looks at the screen for a few seconds.
    #expect(window.wait(until: isPosterSelected), "\(window.screen.lines)")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #") && $0.contains("y Yes") })
    let question = try #require(window.screen.lines.first { $0.contains("Cancel #") })
    let id = try #require(question.firstMatch(of: /#[0-9]+/)).output
    window.type("y")
    // The row stays at the cursor's line, with a mark.
    #expect(
      window.wait { screen in
        screen.lines.contains { $0.hasPrefix("▌x") && $0.contains("\(id) cancel") }
      }, "\(id): \(window.screen.lines)")
    #expect(window.wait { $0.lines.contains { $0.firstMatch(of: #/canc(elled)? 1 /#) != nil } })
    #expect(window.wait { $0.contains("selected row: cancelled") })
    // The next poster of the series is rendered.
    #expect(window.wait { $0.contains("render poster 3 ") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("An operation that x cancels names the dashboard as the viewer, also in the recording")
  func theDashboardIsNamed() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("a.opq")
    // The demo runs so slowly that the first posters do not end during the test.
    let window = try BuiltProgram.start(
      columns: 120, rows: 40, ["demo", "tiles", "--speed", "0.1", "--record", file])
    #expect(window.wait(until: isPosterSelected), "\(window.screen.lines)")
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #") && $0.contains("y Yes") })
    window.type("y")
    #expect(window.wait { $0.contains("selected row: cancelled") }, "\(window.screen.lines)")
    window.type("\r")
    let dashboard = CommandOrigin(processID: try #require(window.child), userID: geteuid())
    #expect(
      window.wait { $0.contains(" by pid \(dashboard.processID) uid \(dashboard.userID) ") },
      "\(window.screen.lines)")
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    let history = RunHistory(try RecordingReader(path: file))
    #expect(history.operations.values.compactMap(\.cancellationCause) == [.viewer(dashboard)])
  }

  @Test(
    "The key t opens the tree of all unfinished operations, and a filter works in it",
    arguments: [(80, 24), (120, 40)])
  func tOpensTheTreeOfAll(columns: Int, rows: Int) throws {
    // The demo runs so slowly that the operations of the tree do not end during the test.
    let window = try BuiltProgram.start(columns: columns, rows: rows, ["--speed", "0.1"])
    #expect(window.wait { $0.contains("executing") })
    window.type("t")
    #expect(
      window.wait { screen in
        screen.lines.contains { $0.hasPrefix("▌") && $0.contains(/executing  #\d+ render poster/) }
          && screen.contains("publish pyramid 1")
      }, "\(window.screen.lines)")
    window.type("\\calibrate\r")
    #expect(
      window.wait { screen in
        screen.lines.contains { $0.hasPrefix("▌") && $0.contains("calibrate picture 1") }
          && screen.contains("filter: calibrate") && !screen.contains("render poster")
      }, "\(window.screen.lines)")
    window.type("qq")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test func qAsksBeforeTaggedWorkEndsWithTheDemo() throws {
    // The selected operation waits for nearly all others, so it does not finish during the test.
    let window = try BuiltProgram.start(["--speed", "0.1"])
    #expect(window.wait { $0.contains("executing") })
    window.type("\\publish pyramid 1\r")
    #expect(
      window.wait { screen in
        screen.lines.contains { $0.hasPrefix("▌") && $0.contains(#/ waiting .*publish pyramid 1/#) }
      }, "\(window.screen.lines)")
    window.type(" ")
    #expect(window.wait { $0.contains("1 tagged") }, "\(window.screen.lines)")
    window.type("q")
    #expect(window.wait { $0.contains("Quit without waiting for #") })
    window.type("n")
    #expect(window.wait { !$0.contains("Quit without") })
    window.type("qy")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("In the storm demo, / finds the job that the hint of the demo names")
  func theHintOfTheStormWorks() throws {
    let window = try BuiltProgram.start(["demo", "storm", "--speed", "0.1"])
    #expect(window.wait { $0.contains("executing") })
    window.type("/job 123456")
    // On a busy machine, the collector of a debug build needs minutes to read a million operations.
    #expect(
      window.wait(seconds: 240) { screen in
        screen.lines.contains { $0.hasPrefix("▌") && $0.contains("job 123456") }
          && screen.contains("1 of 1 ")
      }, "\(window.screen.lines)")
    window.type("\rq")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test func aReadOnlyDashboardCancelsNothing() throws {
    let window = try BuiltProgram.start(["--readonly"])
    #expect(window.wait { $0.contains("executing") })
    window.type("j")
    window.type("x")
    #expect(window.wait { $0.contains("read-only") || $0.bellCount > 0 })
    #expect(!window.screen.contains("y Yes"))
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("A low refresh rate delays updates, but not the effects of keys")
  func aSlowRefreshHoldsNewsBack() throws {
    let window = try BuiltProgram.start()
    window.type("[[[[[[[")
    #expect(window.wait { $0.contains("LIVE every 10s") })
    // The test first waits for the screen updates that the keys have caused.
    window.absorb(for: .milliseconds(800))
    let before = window.byteCount
    window.absorb(for: .seconds(2))
    #expect(window.byteCount == before)
    window.type("?")
    #expect(window.wait(seconds: 2) { $0.contains("tag row, and move down") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T47: A run of one round leaves its last picture, which writes nothing")
  func aFinishedRunIsStill() throws {
    let window = try BuiltProgram.start(["demo", "priorities", "--once", "--speed", "50"])
    // The first key hides the hint of the demo, which a test of a finished demo does not need.
    window.type("g")
    #expect(
      window.wait(seconds: 150) { screen in
        !screen.contains("total 0") && screen.contains("exec 0") && screen.contains("ready 0")
          && screen.contains("wait 0") && screen.contains("the demo has finished")
      })
    window.absorb(for: .milliseconds(500))
    let before = window.byteCount
    window.absorb(for: .milliseconds(2_500))
    #expect(window.byteCount == before)
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "The demo's directory is removed after any kind of ending",
    arguments: [nil, SIGTERM, SIGHUP] as [Int32?])
  func noDirectoryStaysBehind(signal: Int32?) throws {
    let directory = try TemporaryDirectory()
    let window = try BuiltProgram.start(environment: ["TMPDIR=\(directory.path)"])
    let during = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(during.count == 1)
    if let signal { window.signal(signal) } else { window.type("q") }
    #expect(window.waitForEnd() == signal.map { .signal($0) } ?? .status(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }

  @Test func eWritesIntoTheCurrentDirectory() throws {
    let directory = try TemporaryDirectory()
    let window = try PseudoTerminal()
    try window.start(
      "/bin/sh", ["-c", "cd \"$0\" && exec \"$1\" --readonly", directory.path, BuiltProgram.path])
    #expect(window.wait { $0.contains("executing") })
    window.type("e")
    #expect(window.wait { $0.contains("exported ") })
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    let name = try #require(files.first)
    #expect(window.screen.contains("to \(name)"))
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(name)"))
    #expect(try !JSONDecoder().decode(BatchFrame.self, from: data).operations.isEmpty)
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}
