// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Foundation
import Testing

@testable import OpqTop

@Suite("The examples in the help and the manual page") struct ExamplesTests {
  /// The commands that the help lists, and the program without a command.
  private static let commands: [any ParsableCommand.Type] =
    [OpqTop.self] + OpqTop.configuration.subcommands.filter { $0.configuration.shouldDisplay }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? ""
  }

  /// Returns the words of a command line, as a shell splits it. A part in single quotes is not split.
  private static func words(of line: String) -> [String] {
    var words: [String] = []
    for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      let isQuoted = !index.isMultiple(of: 2)
      words += isQuoted ? [String(part)] : part.split(separator: " ").map(String.init)
    }
    return words
  }

  @Test("EX-1: The help of each command has two to four examples")
  func help() {
    #expect(Examples.all.map(\.command).sorted() == Self.commands.map(Self.name).sorted())
    for command in Self.commands {
      let examples = Examples.of(Self.name(of: command))
      #expect((2...4).contains(examples.count), "\(Self.name(of: command))")
      let help = OpqTop.helpMessage(for: command, columns: 80)
      #expect(help.contains("\nEXAMPLES:\n"), "\(Self.name(of: command))")
      for example in examples {
        #expect(help.contains("\n  \(example.words):\n    \(example.line)\n"), "\(example)")
      }
    }
  }

  @Test("EX-2: The program accepts each example, as its command", arguments: commands.indices)
  func parsing(index: Int) throws {
    let expected = index == 0 ? DefaultCommand.self : Self.commands[index]
    for example in Examples.of(Self.name(of: Self.commands[index])) {
      let words = Self.words(of: example.line)
      #expect(words.first == "opq-top")
      let arguments = Array(words.dropFirst())
      #expect(UnknownCommand(in: arguments) == nil, "\(example.line)")
      do {
        let command = try OpqTop.parseAsRoot(LaunchArguments.withoutAttach(arguments))
        #expect(type(of: command) == expected, "\(example.line)")
      } catch {
        Issue.record("\(example.line): \(OpqTop.message(for: error))")
      }
    }
  }

  @Test("EX-3: The manual page has the same examples")
  func manual() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let page = try String(
      contentsOf: root.appending(path: "Sources/opq-top/Packaging/opq-top.1"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: ".Sh EXAMPLES\n").last)
    let text = try #require(section.components(separatedBy: "\n.Sh ").first)
    let expected = Examples.all.flatMap(\.examples).map { example in
      "\(example.words):\n.Pp\n.Dl $ \(example.line)"
    }
    #expect(text == expected.joined(separator: "\n.Pp\n"))
  }

  @Test("EX-1: Each line of an example has room in 80 columns")
  func widths() {
    for example in Examples.all.flatMap(\.examples) {
      #expect(example.words.count <= 76 && example.line.count <= 76, "\(example.line)")
      #expect(example.words.first?.isUppercase == true && example.words.last != ".")
    }
  }
}
