// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// Tests of the dashboard on terminals with many colors, with few colors and without colors.
///
/// The terminal of the tests reports unknown sequences, so the tests also prove that the dashboard
/// never sets a background color. Text has the terminal's default color or one of six colors that
/// are readable on a light and on a dark background.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct ColorTests {
  /// Keys that select a view whose contents do not change with time.
  private struct Step {
    let keys: String
    /// Texts of the complete view. The process sends some of them only after the dashboard has requested them.
    let texts: [String]
  }

  private static let list = ["operations 5", "ITS CODE WAITS FOR", "BLOCKS 1"]

  private static let steps = [
    Step(keys: "", texts: list),
    Step(keys: "t", texts: ["ROOTS 1  4 below", "DEPTH 1", "ITS CODE WAITS FOR", "BLOCKS 1"]),
    Step(keys: "\u{1B}3", texts: ["next: #101 download can start now", "100%"]),
    Step(keys: "\u{1B}5", texts: ["events 6", "deadlock"]),
    Step(keys: "?", texts: ["settings and columns"]),
    Step(keys: "\u{1B}", texts: ["events 6", "deadlock"]),
    Step(keys: "\u{1B}1", texts: list),
    Step(keys: "x", texts: list + ["Cancel #103 merge?"]),
  ]

  /// A type of terminal or a setting of the environment, and the colors that the dashboard may use
  /// with it.
  private struct Setting {
    let name: String
    var environment: [String] = []
    let colors: Set<Int>
  }

  private static let settings = [
    Setting(name: "8 colors", environment: ["TERM=xterm"], colors: [1, 2, 3, 4, 5, 6]),
    Setting(name: "16 colors", environment: ["TERM=opq-16"], colors: [1, 2, 3, 5, 6, 12]),
    Setting(name: "256 colors", colors: [1, 2, 3, 5, 6, 33]),
    Setting(name: "no color on the terminal", environment: ["TERM=vt100"], colors: []),
    Setting(name: "NO_COLOR", environment: ["NO_COLOR=1"], colors: []),
  ]

  /// Describes a type of terminal with 16 colors, which the system's database may not contain.
  private func describeSixteenColors(in path: String) throws {
    let window = try PseudoTerminal()
    let description = "opq-16|sixteen colors, colors#16, pairs#0x100, use=xterm-256color,"
    try window.start(
      "/bin/sh", ["-c", "echo '\(description)' | tic -x -o '\(path)' -"])
    try #require(window.waitForEnd() == .status(0), "\(window.screen.lines)")
  }

  /// Returns the rows of the screen after each key of `steps`, without the header, which contains a
  /// clock, and all used colors.
  private func session(
    _ setting: Setting, terminfo path: String
  ) throws -> (texts: [[String]], colors: Set<Int>) {
    let file = try NamesFile(["download", "resample", "merge", "upload", "index"])
    let window = try PseudoTerminal(columns: 120, rows: 40)
    try window.start(
      NamesFile.program, [file.path], environment: setting.environment + ["TERMINFO=\(path)"])
    func isDrawn(_ screen: VirtualScreen) -> Bool {
      !screen.isBlank(row: screen.rows - 1) && !screen.isBlank(row: 0)
    }
    // The screen shows – instead of the rate until the rate has been measured.
    try #require(window.wait { isDrawn($0) && $0.contains("rate 0/s") })
    var texts: [[String]] = []
    var colors: Set<Int> = []
    for step in Self.steps {
      let name = step.keys.debugDescription
      // The test types Ctrl-L twice to redraw the screen, because the effect of the key may appear
      // only after the first redraw.
      for keys in [step.keys + "\u{C}", "\u{C}"] {
        try #require(window.wait(until: isDrawn), "before \(name)")
        window.forgetScreen()
        window.type(keys)
      }
      for text in step.texts {
        #expect(
          window.wait { isDrawn($0) && $0.contains(text) },
          "\(setting.name), after \(name), without \(text): \(window.screen.lines)")
      }
      window.absorb(for: .milliseconds(30))
      texts.append(window.screen.lines.dropFirst().map(withoutRates))
      colors.formUnion(window.screen.cells.compactMap(\.foreground))
    }
    window.type("nQ")
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.unknownSequences == [])
    return (texts, colors)
  }

  /// Removes the rates of the last seconds from the line of the rate, because their number grows with time.
  private func withoutRates(_ line: String) -> String {
    line.hasPrefix(" rate ") ? line.replacing("▁", with: " ") : line
  }

  @Test("T7, T9: Every terminal shows the same facts, in colors that it has and that are readable")
  func theSameFacts() throws {
    let terminfo = try TemporaryDirectory()
    try describeSixteenColors(in: terminfo.path)
    var reference: [[String]]?
    for setting in Self.settings {
      let (texts, colors) = try session(setting, terminfo: terminfo.path)
      #expect(colors.subtracting(setting.colors) == [], "\(setting.name)")
      // On a terminal with colors, the dashboard must use some. Otherwise, the comparison with the
      // other terminals would prove nothing.
      #expect(colors.isEmpty == setting.colors.isEmpty, "\(setting.name)")
      for (index, (step, text)) in zip(Self.steps, texts).enumerated() {
        for (line, expected) in zip(text, reference?[index] ?? text) {
          let isSame = line == expected
          #expect(
            isSame,
            "\(setting.name), after \(step.keys.debugDescription): \(line), not \(expected)")
        }
      }
      reference = reference ?? texts
    }
  }
}
