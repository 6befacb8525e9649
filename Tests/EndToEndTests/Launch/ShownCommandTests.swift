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

/// Tests of `opq-top -- COMMAND` with the dashboard and in batch mode.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct ShownCommandTests {
  /// Starts the dashboard with a command, and waits until it shows the finished batch.
  private func show(
    _ scene: LaunchScene, _ words: [String], _ options: [String] = []
  ) throws -> PseudoTerminal {
    let window = try scene.start(options + ["--"] + words, showsScreen: true)
    #expect(window.wait { $0.isAlternate && $0.contains("#50 finished") })
    return window
  }

  @Test("The dashboard shows a program from its first operation, and then prints its output")
  func dashboard() throws {
    let scene = try LaunchScene()
    let window = try show(scene, [LaunchScene.program, "exit", "3"])
    #expect(window.wait { $0.contains("EXITED") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(3))
    #expect(!window.screen.isAlternate && window.screen.contains("the batch has finished"))
    #expect(scene.outputFiles.isEmpty)
  }

  @Test(
    "The key Q or Ctrl-C leaves the command running, and a sentence names its output",
    arguments: [("Q", PseudoTerminal.Ending.status(0)), ("\u{3}", .signal(SIGINT))])
  func quit(key: String, ending: PseudoTerminal.Ending) throws {
    let scene = try LaunchScene()
    let window = try show(scene, [LaunchScene.program, "wait"])
    #expect(window.wait { $0.contains("the command's output is in \(scene.directory.path)/") })
    window.type(key)
    let words = " continues; its output goes to "
    #expect(window.wait { !$0.isAlternate && $0.contains(words) })
    let line = try #require(window.screen.lines.first { $0.contains(words) })
    let process = try #require(Int32(line.split(separator: " ")[2]))
    let output = try #require(scene.outputFiles.first)
    #expect(window.screen.lines.joined().contains(output))
    #expect(kill(process, SIGUSR1) == 0)
    // The command has a descriptor by which the terminal notices the end, so the end of both is noticed.
    #expect(window.waitForEnd() == ending)
    #expect(try String(contentsOfFile: output, encoding: .utf8) == "the batch has finished\n")
  }

  @Test("A signal to the dashboard is passed on to the command, and its output is printed")
  func signal() throws {
    let scene = try LaunchScene()
    let window = try show(scene, ["sh", "-c", "exec '\(LaunchScene.program)' wait"])
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .status(10 + SIGTERM))
    #expect(!window.screen.isAlternate && window.screen.contains("the batch has finished"))
  }

  @Test("While nothing listens, the terminal is not changed, and Ctrl-C interrupts the command")
  func interruptsWhileItWaits() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["--", "sleep", "600"], showsScreen: true)
    #expect(window.wait { $0.contains("waiting for \"sleep\" (process ") })
    #expect(!window.screen.isAlternate)
    window.type("\u{3}")
    #expect(window.waitForEnd() == .signal(SIGINT))
    #expect(window.screen.contains("no process of \"sleep\" listened"))
  }

  @Test("The key L shows the log lines of an operation, follows new lines and finds a word")
  func logLines() throws {
    let scene = try LaunchScene()
    let window = try scene.start(
      ["--", BuiltFolder.path(of: "demo-progress"), "500"], showsScreen: true)
    #expect(window.wait { $0.contains("convert film 1") })
    window.type("/convert film 1")
    #expect(
      window.wait { screen in
        screen.lines.contains { $0.hasPrefix("▌") && $0.contains("convert film 1") }
      }, "\(window.screen.lines)")
    window.type("\r\r")
    #expect(window.wait { $0.contains("film 1 has 60 frames") && $0.contains(" progress ") })
    window.type("L")
    #expect(window.wait { $0.contains("log of #") && $0.contains("film 1 has 60 frames") })
    #expect(window.wait { $0.contains("frame 20") }, "\(window.screen.lines)")
    window.type("/frame 20")
    #expect(window.wait { $0.contains("1 of 1 ") }, "\(window.screen.lines)")
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .signal(SIGTERM))
  }

  @Test("If the terminal cannot show the dashboard, the command is not started")
  func unusableTerminal() throws {
    let scene = try LaunchScene()
    let window = try scene.start(
      ["--", "touch", scene.file("started")], environment: ["TERM=nonesuch"], showsScreen: true)
    #expect(window.waitForEnd() == .status(2))
    #expect(
      window.screen.contains(
        "opq-top: unknown terminal type: TERM is \"nonesuch\"; use --batch"))
    #expect(access(scene.file("started"), F_OK) != 0 && scene.outputFiles.isEmpty)
  }

  @Test("If the output of the command cannot be printed, its file is kept, and the status is 1")
  func unprintableOutput() throws {
    let scene = try LaunchScene()
    let line = "'\(BuiltProgram.path)' --batch -- '\(LaunchScene.program)' exit 0 2>/dev/full"
    #expect(try scene.run(["-c", line], of: "/bin/bash") == .status(1))
    let output = try #require(scene.outputFiles.first)
    #expect(try String(contentsOfFile: output, encoding: .utf8) == "the batch has finished\n")
  }

  @Test(
    "A program that ends at once is shown and recorded at the same time", arguments: 1...20)
  func recordsToo(round: Int) throws {
    let scene = try LaunchScene()
    let window = try scene.start(
      ["attach", "--record", scene.file("run.opq"), "--", LaunchScene.program, "exit", "0"],
      showsScreen: true)
    #expect(window.wait { $0.isAlternate && $0.contains("#50 finished") && $0.contains("EXITED") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    try scene.expectBatch(in: "run.opq")
  }

  @Test("Batch mode prints frames on standard output and the command's output on standard error")
  func batch() throws {
    let scene = try LaunchScene()
    let options = ["--batch", "--json", "--command-output", scene.file("log")]
    let ending = try scene.run(options + ["--", LaunchScene.program, "exit", "6"])
    #expect(ending == .status(6), "\(scene.contents("errors"))")
    let last = try #require(scene.contents("output").split(separator: "\n").last)
    let frame = try JSONDecoder().decode(BatchFrame.self, from: Data(last.utf8))
    #expect(frame.counts.finished == LaunchScene.batchCount)
    #expect(scene.contents("errors").contains("the batch has finished\n"))
    #expect(scene.contents("log") == "the batch has finished\n")
  }

  @Test("With --readonly, the command accepts no changes")
  func readOnly() throws {
    let scene = try LaunchScene()
    let window = try show(scene, [LaunchScene.program, "wait"], ["--readonly"])
    let list = try scene.start(["ls", "--json"], input: "/dev/null")
    #expect(list.waitForEnd() == .status(0))
    #expect(scene.contents("output").contains("\"isReadOnly\":true"))
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .status(10 + SIGTERM))
  }
}
