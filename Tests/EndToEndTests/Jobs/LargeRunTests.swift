// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of `opq-top run` with thousands of jobs.
@Suite("Runs with many jobs", .timeLimit(.minutes(10)), .onOwnThread)
struct LargeRunTests {
  @Test("JR-13: Plain lines take little memory and time", .oneAtATime)
  func manyLines() throws {
    let scene = try LaunchScene()
    let count = Effort.scaled(10_000)
    let lines =
      String(repeating: "true\n", count: count)
      + "grep VmHWM \"/proc/$(cat '\(scene.file(".opq/runs"))'/$OPQ_RUN/lock)/status\" "
      + ">'\(scene.file("memory"))'\n"
    try lines.write(toFile: scene.file("lines.txt"), atomically: true, encoding: .utf8)
    let process = try scene.start(["run", "-j2", "--lines", scene.file("lines.txt")])
    // The whole run takes about a minute in a debug build.
    #expect(process.waitForEnd(seconds: 240) == .status(0))
    #expect(scene.contents("output").split(separator: "\n").count == 2 * (count + 1) + 1)
    let words = scene.contents("memory").split(whereSeparator: \.isWhitespace)
    #expect(try #require(words.dropFirst().first.flatMap { Int($0) }) < 100_000)
  }

  @Test("JR-13, JR-20: The dashboard answers keys within 100 ms while 10,000 jobs run", .oneAtATime)
  func keysDuringManyJobs() throws {
    let scene = try LaunchScene()
    let count = Effort.scaled(10_000)
    try String(repeating: "true\n", count: count).write(
      toFile: scene.file("lines.txt"), atomically: true, encoding: .utf8)
    let window = try scene.start(
      ["run", "-j2", "--lines", scene.file("lines.txt")], showsScreen: true)
    let total = count.formatted(.number.locale(Locale(identifier: "en_US")))
    #expect(window.wait { $0.isAlternate && $0.contains("total \(total)") })
    // Another process can delay an answer, so most answers must be in time, and not each one.
    var times: [Duration] = []
    while times.count < 21 {
      let begin = ContinuousClock.now
      window.type("?")
      #expect(window.wait { $0.contains("tag row") })
      let time = begin.duration(to: .now)
      window.type("q")
      #expect(window.wait { !$0.contains("tag row") })
      if window.screen.contains("all jobs have ended") { break }
      times.append(time)
    }
    #expect(times.count >= 5)
    print("keys during \(count) jobs: \(times.sorted())")
    #expect(times.sorted()[times.count / 2] < .milliseconds(100))
    #expect(window.wait(seconds: 240) { $0.contains("all jobs have ended") })
    for process in [try #require(window.child), try scene.runner()] {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let peak = try #require(status.firstMatch(of: #/VmHWM:\s+([0-9]+) kB/#))
      #expect(try #require(Int(peak.1)) < 100_000)
    }
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}
