// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of the settings file with the program in a terminal.
@Suite("Settings in a terminal", .timeLimit(.minutes(10)), .onOwnThread)
struct SettingsTests {
  private static let f2 = "\u{1B}OQ"

  /// A directory with a settings file.
  private struct Home {
    let temporary: TemporaryDirectory

    init(_ text: String?) throws {
      temporary = try TemporaryDirectory()
      guard let text else { return }
      try FileManager.default.createDirectory(
        atPath: "\(temporary.path)/opq", withIntermediateDirectories: false)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    var path: String { "\(temporary.path)/opq/config.yaml" }

    var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

    func start(_ arguments: [String] = []) throws -> PseudoTerminal {
      try BuiltProgram.start(
        columns: 120, rows: 40, ["demo", "tiles"] + arguments,
        environment: ["XDG_CONFIG_HOME=\(temporary.path)"])
    }
  }

  private func end(_ window: PseudoTerminal) {
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.unknownSequences == [])
  }

  private func colors(of window: PseudoTerminal) -> Set<Int> {
    Set(window.screen.cells.compactMap(\.foreground))
  }

  @Test("SF-1, SF-2: the dashboard starts with the settings of the file")
  func theDashboardStartsWithTheFile() throws {
    let window = try Home("refresh: 10/s\nsort: name\ntheme: dark\n").start()
    #expect(window.wait { $0.contains("LIVE 10/s") && $0.contains("OPERATION▲") })
    let colors = colors(of: window)
    // No color of the theme depends on the terminal.
    #expect(colors.contains(252) && colors.allSatisfy { $0 >= 16 })
    end(window)
  }

  @Test("SF-3: a mistake in the file is a sentence on the screen")
  func aMistakeIsShown() throws {
    let window = try Home("refresh: 10/s\ntheem: dark\n").start()
    #expect(
      window.wait {
        $0.contains("config.yaml:2: unknown key \"theem\" is ignored") && $0.contains("LIVE 10/s")
      })
    end(window)
  }

  @Test("SF-5, SF-14: options have priority over the file")
  func optionsHavePriority() throws {
    let home = try Home("refresh: 10/s\ntheme: dark\nsort: name\n")
    let window = try home.start(["--theme", "none", "--sort", "-id"])
    #expect(window.wait { $0.contains("LIVE 10/s") && $0.contains("ID▼") })
    #expect(colors(of: window) == [])
    end(window)
    #expect(try home.text == "refresh: 10/s\ntheme: dark\nsort: name\n")
  }

  @Test("SF-7, SF-9: the setup saves a change, and the next dashboard has it")
  func theSetupSaves() throws {
    let home = try Home(nil)
    let window = try home.start(["--sort", "id"])
    window.type(Self.f2)
    #expect(window.wait { $0.contains("SETTING   VALUE") })
    window.type("jjjj ")
    #expect(window.wait { $0.contains("theme   * dark") && $0.contains("not saved: theme") })
    window.type("s")
    #expect(window.wait { $0.contains("saved in \(home.path)") })
    #expect(try home.text == "theme: dark\n")
    #expect(colors(of: window).contains(252))
    end(window)
    let next = try home.start()
    #expect(colors(of: next).contains(252))
    end(next)
  }

  @Test("SF-10: the setup says why the settings cannot be saved")
  func theReasonIsShown() throws {
    let home = try Home("view: [")
    let window = try home.start()
    window.type("C")
    #expect(window.wait { $0.contains("SETTING   VALUE") })
    window.type("jjjjjj s")
    #expect(window.wait { $0.contains("not saved: config.yaml:1: the file is not YAML") })
    #expect(try home.text == "view: [")
    end(window)
  }
}
