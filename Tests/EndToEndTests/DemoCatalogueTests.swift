// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

/// Tests of the list of demos, and of all demos except the default one.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct DemoCatalogueTests {
  @Test("The list has each demo with its description and its keys")
  func list() throws {
    let (text, ending) = try BuiltProgram.output(["demo", "--list"])
    #expect(ending == .status(0))
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.allSatisfy { $0.count <= 90 && !$0.hasSuffix(" ") })
    let names = ["tiles", "deadlock", "storm", "stubborn", "priorities"]
    let indentation = String(repeating: " ", count: "priorities".count + 2)
    for (position, name) in names.enumerated() {
      let (summary, guidance) = (lines[2 * position], lines[2 * position + 1])
      let word = name + String(repeating: " ", count: indentation.count - name.count)
      #expect(summary.hasPrefix(word) && summary.dropFirst(word.count).first != " ", "\(summary)")
      #expect(guidance.hasPrefix(indentation), "\(guidance)")
      let form = /[a-z][^.]{15,}\. Press (Tab twice|\S)[ ,].{8,}/
      let hint = guidance.dropFirst(indentation.count)
      #expect(hint.wholeMatch(of: form) != nil, "\(guidance)")
    }
    #expect(try BuiltProgram.output(["--list"]).text == text)
  }

  @Test("A list that cannot be written is an error")
  func listCannotBeWritten() throws {
    let window = try PseudoTerminal(columns: 100)
    try window.start(BuiltProgram.path, ["--list"], redirections: [1: "/dev/full"])
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.lines[0].contains("No space left on device"))
  }

  @Test("Frames of each demo add up", arguments: ["deadlock", "stubborn", "priorities"])
  func frames(demo: String) throws {
    let (text, ending) = try BuiltProgram.output(
      ["demo", demo, "--batch", "--json", "-n", "2", "-d", "100ms", "--seed", "3"])
    #expect(ending == .status(0))
    let frames = try text.split(separator: "\n").map {
      try JSONDecoder().decode(BatchFrame.self, from: Data($0.utf8))
    }
    #expect(frames.count == 2)
    #expect(frames.allSatisfy { $0.counts.isConsistent && $0.counts.total > 0 })
  }

  @Test("A run of one round ends by itself", arguments: ["deadlock", "stubborn", "priorities"])
  func onceEnds(demo: String) throws {
    let (text, ending) = try BuiltProgram.output(["demo", demo, "--once", "--speed", "50"])
    #expect(text.isEmpty)
    #expect(ending == .status(0))
  }

  @Test("The help describes one round of each demo")
  func help() throws {
    let (text, ending) = try BuiltProgram.output(["help", "demo"])
    #expect(ending == .status(0))
    #expect(text.split(separator: "--once: ").count == 6)
    #expect(text.contains("deadlocks end after 20, 24 and 28 s"))
  }

  @Test("A deadlock on the screen does not keep the program from ending")
  func quitWhileStuck() throws {
    let window = try BuiltProgram.start(["demo", "deadlock"])
    #expect(window.wait { $0.contains("import orders") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}
