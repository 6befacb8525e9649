// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests in which the terminal window changes its size.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct SizeTests {
  /// Starts the dashboard of an imaginary process without changes, so that two frames differ only
  /// because of their sizes.
  private func start(_ file: NamesFile) throws -> PseudoTerminal {
    let window = try PseudoTerminal()
    try window.start(NamesFile.program, [file.path])
    #expect(window.wait { $0.contains("total") && !$0.isBlank(row: 23) })
    // The key `p` pauses the display, so that the clock does not change.
    window.type("p")
    #expect(window.wait { $0.contains("PAUSED") })
    window.absorb(for: .milliseconds(100))
    return window
  }

  /// Makes the program redraw the screen, and returns the complete frame.
  private func freshFrame(_ window: PseudoTerminal) -> [String] {
    window.absorb(for: .milliseconds(100))
    window.forgetScreen()
    window.type("\u{C}")
    window.wait { !$0.isBlank(row: $0.rows - 1) }
    window.absorb(for: .milliseconds(100))
    return window.screen.lines
  }

  /// Reads output until the program has written nothing for 300 ms.
  private func settle(_ window: PseudoTerminal) {
    for _ in 0..<50 {
      let before = window.byteCount
      window.absorb(for: .milliseconds(300))
      if window.byteCount == before { return }
    }
  }

  /// Removes the letters that the key `X` assigns to rows. A row that disappears and returns may
  /// have another letter.
  private func withoutRowKeys(_ lines: [String]) -> [String] {
    lines.map { $0.contains("#10") ? $0.replacing(/^(.!) ../, with: { "\($0.1)   " }) : $0 }
  }

  @Test("T13: After every size, down to one cell, the frame is the same as before")
  func theFrameIsTheOneFromBefore() throws {
    let window = try start(try NamesFile(["one", "two", "three"]))
    let before = withoutRowKeys(freshFrame(window))
    for (columns, rows) in [(120, 40), (20, 5), (1, 1), (80, 24)] {
      window.resize(columns: columns, rows: rows)
      #expect(window.wait { !$0.isBlank(row: 0) }, "\(columns)x\(rows)")
    }
    #expect(window.wait { !$0.isBlank(row: 23) })
    window.absorb(for: .milliseconds(100))
    #expect(withoutRowKeys(window.screen.lines) == before)
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T14: After 1,000 sizes with keys between them, the last frame equals a new one")
  func aThousandSizes() throws {
    var random = SeededGenerator(seed: 14)
    let window = try start(try NamesFile((1...40).map { "name \($0)" }))
    let keys = [
      "j", "k", "G", "g", "\t", " ", "t", "\u{1B}", "<", ">", "I", "w", "?", "\r", "R", "*", "D",
    ]
    for _ in 0..<1_000 {
      window.resize(
        columns: Int.random(in: 1...150, using: &random),
        rows: Int.random(in: 1...50, using: &random))
      window.type(keys.randomElement(using: &random) ?? "j")
      window.absorb(for: .zero)
    }
    settle(window)
    window.resize(columns: 90, rows: 30)
    for _ in 0..<4 {
      window.type("\u{1B}")
      settle(window)
    }
    // The help shows that the program has handled all keys before. Alt-1 separates its key from the key Escape.
    for isOpen in [true, false] {
      window.type(isOpen ? "\u{1B}1?" : "?")
      #expect(window.wait { $0.contains("tag row, and move down") == isOpen })
    }
    settle(window)
    let last = window.screen.lines
    #expect(last == freshFrame(window))
    #expect(window.screen.unknownSequences == [])
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T15: Open prompts, questions and help stay open when the size changes",
    arguments: [
      ("\\thr", "thr"), ("?", "Space"), ("gx", "Cancel #103 three?"),
      ("w", "three"),
    ])
  func whatIsOpenStaysOpen(keys: String, words: String) throws {
    let window = try start(try NamesFile(["one", "two", "three"]))
    window.type(keys)
    #expect(window.wait { $0.contains(words) })
    for (columns, rows) in [(120, 40), (40, 10), (20, 5), (100, 30)] {
      window.resize(columns: columns, rows: rows)
      #expect(
        window.wait { screen in
          columns < 40 ? !screen.isBlank(row: 0) : screen.contains(words)
        }, "\(columns)x\(rows): \(window.screen.lines)")
    }
    // After the changes of the size, the keys still work: Escape closes the window, and Q quits. A busy program may
    // read both keys at once. Without Ctrl-L between them, they would be Alt-Q.
    window.type("\u{1B}\u{C}Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T16: A change of size while the program is stopped is applied when it continues",
    arguments: [true, false])
  func aSizeThatChangesWhileStopped(isByKey: Bool) throws {
    let window = try start(try NamesFile(["one", "two", "three"]))
    if isByKey {
      window.type("\u{1A}")
      try #require(window.waitForStop())
    } else {
      window.signal(SIGSTOP)
    }
    for (columns, rows) in [(20, 5), (100, 30)] { window.resize(columns: columns, rows: rows) }
    window.signal(SIGCONT)
    #expect(window.wait { $0.isAlternate && !$0.isBlank(row: 29) && $0.contains("total") })
    window.absorb(for: .milliseconds(100))
    let shown = window.screen.lines
    #expect(shown == freshFrame(window))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }
}
