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

    func start(demo: String = "tiles", _ arguments: [String] = []) throws -> PseudoTerminal {
      try BuiltProgram.start(
        columns: 120, rows: 40, ["demo", demo] + arguments,
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

  @Test("SF-5: the dashboard starts with the view, the filter and the mouse of the options")
  func optionsOfTheView() throws {
    let window = try Home(nil).start(["--mouse", "--view", "queues", "--filter", "queue:io"])
    #expect(window.wait { $0.isMouseReported && $0.contains("SLOTS") && $0.contains("SLOT99") })
    window.type("\u{1B}1")
    #expect(
      window.wait { screen in
        let rows = rows(of: screen)
        return screen.contains("filter: queue:io") && !rows.isEmpty
          && rows.allSatisfy { $0.contains(" io ") }
      })
    end(window)
    #expect(window.screen.isMouseOff)
  }

  /// Returns the rows of the list that have an operation.
  private func rows(of screen: VirtualScreen) -> [String] {
    guard let headings = screen.lines.firstIndex(where: { $0.contains("OPERATION") }) else {
      return []
    }
    // A rule ends the list.
    return screen.lines[(headings + 1)...].prefix { !$0.hasPrefix("─") }.filter {
      $0.prefix(40).contains("#")
    }
  }

  @Test("SF-5, CP-7: the bell sounds at a new deadlock only with --bell", arguments: [true, false])
  func bell(isOn: Bool) throws {
    let window = try Home(nil).start(demo: "deadlock", isOn ? ["--bell"] : [])
    #expect(window.wait { $0.contains(Self.newDeadlock) && (!isOn || $0.bellCount > 0) })
    if !isOn { #expect(window.screen.bellCount == 0) }
    end(window)
  }

  /// The beginning of the sentence about a deadlock that does not exist in the first update of the demo, because its
  /// operations must start first.
  private static let newDeadlock = "hold every slot of import"

  @Test(
    "SF-2: the view, the filter, the mouse, the bell and the columns of the file have an effect")
  func allValuesOfTheFile() throws {
    let home = try Home(
      """
      view: queues
      filter: queue:import
      mouse: true
      bell: true
      columns:
        - state: 20
        - id
        - name

      """)
    let window = try home.start(demo: "deadlock")
    #expect(window.wait { $0.isMouseReported && $0.contains("SLOTS") && $0.contains("SLOT99") })
    #expect(window.wait { $0.bellCount > 0 })
    window.type("\u{1B}1")
    #expect(window.wait { $0.contains("filter: queue:import") && !rows(of: $0).isEmpty })
    let headings = window.screen.lines.first { $0.contains("OPERATION") } ?? ""
    // The column of states has 20 cells.
    #expect(headings.hasPrefix("  STATE▲              "), "\(headings)")
    let words = headings.prefix { $0 != "│" }.split(separator: " ")
    #expect(words == ["STATE▲", "ID", "OPERATION"], "\(headings)")
    end(window)
  }

  @Test("SF-7: columns that are chosen in the setup are saved, and the next dashboard has them")
  func theSetupSavesColumns() throws {
    let home = try Home(nil)
    let window = try home.start()
    let headings = "  KEY    ID STATE"
    #expect(window.wait { $0.contains("STATE▲") })
    window.type("\(Self.f2)\tjjj ")
    #expect(window.wait { $0.contains("▌ [ ] state") && $0.contains("not saved: columns") })
    window.type("s")
    #expect(window.wait { $0.contains("saved in \(home.path)") })
    let text = try home.text
    #expect(text.hasPrefix("columns:\n- key\n- id\n- queue\n"), "\(text)")
    #expect(!text.contains("state"))
    end(window)
    let next = try home.start()
    #expect(next.wait { $0.contains("ID QUEUE") })
    #expect(!next.screen.contains(headings) && !next.screen.contains("STATE"))
    end(next)
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
    #expect(window.wait { $0.contains("not saved: line 1 of config.yaml is not YAML") })
    #expect(try home.text == "view: [")
    end(window)
  }

  @Test("SF-10: the setup says why the file cannot be written")
  func aFileThatCannotBeWritten() throws {
    // A file is at the place of the directory, so that not even root can write below it.
    let temporary = try TemporaryDirectory()
    let file = temporary.file("file")
    try Data().write(to: URL(fileURLWithPath: file))
    let window = try BuiltProgram.start(
      columns: 120, rows: 40, ["demo", "tiles"], environment: ["XDG_CONFIG_HOME=\(file)"])
    window.type("Cjjjjjj ")
    #expect(window.wait { $0.contains("not saved: bell") })
    window.type("s")
    #expect(window.wait { $0.contains("not saved: cannot write \(file)/opq/config.yaml: Not a") })
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
    end(window)
  }
}
