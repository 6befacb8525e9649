// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

@testable import OpqTop

/// Tests of the screen with the whole output of a job in the dashboard of `opq-top run`.
@Suite("The whole output of a job", .timeLimit(.minutes(10)), .onOwnThread)
struct WholeOutputTests {
  /// The maximum memory of the program in KiB.
  private static let memoryLimit = 64 << 10

  private func start(_ job: String, in scene: LaunchScene) throws -> PseudoTerminal {
    let path = scene.file("jobs.yaml")
    try "environment: {DIR: '\(scene.directory.path)'}\njobs:\n  \(job)\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    return try scene.start(["run", path], showsScreen: true)
  }

  /// Checks the memory of the dashboard and of the process that executes the jobs.
  private func expectLittleMemory(of window: PseudoTerminal, in scene: LaunchScene) throws {
    for process in [try #require(window.child), try scene.runner()] {
      let memory = try #require(ProcessStatus.amount("VmHWM", of: process))
      #expect(memory < Self.memoryLimit, "\(memory) KiB")
    }
  }

  private func quit(_ window: PseudoTerminal, _ status: Int32 = 0) {
    window.type("Q")
    #expect(window.waitForEnd() == .status(status))
  }

  @Test("JR-21: An output of 100 MB can be read, searched and followed within 64 MB of memory")
  func hugeOutput() throws {
    let scene = try LaunchScene()
    let command =
      "yes some words of a line | head -c 60000000; echo; echo The Needle; "
      + "yes more words of a line | head -c 40000000; echo; echo last line"
    let window = try start("big: {run: '\(command)'}", in: scene)
    #expect(window.wait { $0.contains("all jobs have ended") })
    #expect(window.waitForSelection(of: "big"))
    window.type("L")
    #expect(window.wait { $0.contains("100 % of 100 MB") && $0.contains("last line") })
    window.type("g")
    #expect(window.wait { $0.contains("0 % of 100 MB") && $0.contains("G follows") })
    window.type("/NEEDLE\r")
    #expect(window.wait { $0.contains("The Needle") && $0.contains("/NEEDLE: at 59 %") })
    window.type("/more WORDS\r")
    #expect(window.wait { $0.contains("/more WORDS: at 59 %") })
    window.type("/last li\r")
    #expect(window.wait { $0.contains("/last li: at 99 %") && $0.contains("last line") })
    window.type("G")
    #expect(window.wait { $0.contains("following") && $0.contains("last line") })
    try expectLittleMemory(of: window, in: scene)
    quit(window)
  }

  @Test("JR-11, JR-21: A line of 100 MB and hostile bytes are harmless")
  func hugeLine() throws {
    let scene = try LaunchScene()
    let window = try start(
      #"bytes: {run: 'printf "\033[2J\033]0;x\007\377\376begin"; head -c 100000000 /dev/zero; printf "the last word\033c"'}"#,
      in: scene)
    #expect(window.wait { $0.contains("all jobs have ended") })
    #expect(window.waitForSelection(of: "bytes"))
    window.type("L")
    #expect(window.wait { $0.contains("100 % of 100 MB") && $0.contains("the last word") })
    window.type("g")
    #expect(window.wait { $0.contains("[2J") && $0.contains("begin") && $0.contains("output of") })
    window.type("/LAST\r")
    #expect(window.wait { $0.contains("/LAST: at 99 %") })
    try expectLittleMemory(of: window, in: scene)
    quit(window)
  }

  @Test("JR-21: The screen follows the output of a running job, and the file may vanish")
  func growingOutput() throws {
    let scene = try LaunchScene()
    let command =
      #"echo first; until test -e "$DIR/go"; do sleep 0.02; done; seq 2000; "#
      + #"touch "$DIR/done"; until test -e "$DIR/end"; do sleep 0.02; done"#
    let window = try start("slow: {run: '\(command)', grace: 1s}", in: scene)
    #expect(window.wait { $0.isAlternate && $0.contains("slow") && $0.contains("first") })
    window.type("L")
    #expect(window.wait { $0.contains("output of") && $0.contains("first") })
    func hasLastNumber(_ screen: VirtualScreen) -> Bool {
      screen.lines.contains { $0.split(separator: " ").last == "2000" }
    }
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(window.wait { screen in hasLastNumber(screen) && screen.contains("output of") })
    let run = try scene.onlyRun()
    try FileManager.default.removeItem(atPath: run.file("jobs/1-slow.1.log"))
    #expect(window.wait { $0.contains("log of") })
    try "".write(toFile: scene.file("end"), atomically: true, encoding: .utf8)
    #expect(window.wait { $0.contains("all jobs have ended") })
    quit(window)
  }

  @Test("JR-9, JR-21: The output of each attempt of a job can be shown")
  func attempts() throws {
    let scene = try LaunchScene()
    let command = #"echo "this is $OPQ_ATTEMPT"; test "$OPQ_ATTEMPT" = 3"#
    let window = try start("flaky: {run: '\(command)', retries: 2, retry-pause: 1ms}", in: scene)
    #expect(window.wait { $0.contains("all jobs have ended") })
    #expect(window.waitForSelection(of: "flaky"))
    window.type("L")
    #expect(
      window.wait { $0.contains("attempt 3 of 3") && $0.contains("  this is 3") },
      "\(window.screen)")
    window.type("<")
    #expect(window.wait { $0.contains("attempt 2 of 3") && $0.contains("  this is 2") })
    window.type("<")
    #expect(window.wait { $0.contains("attempt 1 of 3") && $0.contains("  this is 1") })
    window.type(">>")
    #expect(window.wait { $0.contains("attempt 3 of 3") && $0.contains("  this is 3") })
    quit(window)
  }

  @Test("JR-21: Viewers in other processes have the name of the file with the whole output")
  func pointer() throws {
    let scene = try LaunchScene()
    let path = scene.file("jobs.yaml")
    try "jobs:\n  chatty: {run: 'seq 2000', each: {N: [1]}}\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    let window = try scene.start(["run", path], showsScreen: true)
    #expect(window.wait { $0.contains("all jobs have ended") })
    let process = "\(try scene.runner())"
    let viewer = try PseudoTerminal()
    try viewer.start(
      BuiltProgram.path, ["log", "chatty[1]", "-p", process],
      environment: [MonitoredProcess.variable(scene.directory)],
      redirections: [0: "/dev/null", 1: scene.file("log"), 2: scene.file("errors")])
    #expect(viewer.waitForEnd() == .status(0), "\(scene.contents("errors"))")
    #expect(scene.contents("log").contains("the whole output is in "))
    quit(window)
  }
}
