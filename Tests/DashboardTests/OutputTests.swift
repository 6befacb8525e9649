// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The output of a job on the screen") struct OutputTests {
  private func opened(_ files: String..., columns: Int = 80, rows: Int = 24) -> OutputScene {
    var scene = OutputScene(files, columns: columns, rows: rows)
    scene.press("L")
    return scene
  }

  // MARK: Frames

  @Test("The output looks as stored", arguments: [(80, 24), (120, 40), (40, 10)])
  func outputScreen(columns: Int, rows: Int) {
    let text =
      "compiling \u{1B}[31mred\u{1B}[0m\r\n" + String(repeating: "a long line of words ", count: 20)
      + "\n" + OutputScene.lines(0..<100) + "no newline"
    var scene = opened("first\n", text, columns: columns, rows: rows)
    scene.press("gj")
    GoldenFrame.check(scene.dashboard, named: "output")
  }

  @Test("The output with a search looks as stored", arguments: [(80, 24)])
  func searchScreen(columns: Int, rows: Int) {
    var scene = opened(OutputScene.lines(0..<1_000), columns: columns, rows: rows)
    scene.press("g/LINE 350")
    GoldenFrame.check(scene.dashboard, named: "output-search")
  }

  @Test("JR-21: No byte of the output reaches the terminal as a control", arguments: [true, false])
  func hostileBytes(isUnicode: Bool) {
    let bytes = (0...0xFF).map { UInt8($0) } + [0xF0, 0x9F, 0xE2, 0x80]
    let hostile =
      [String(decoding: bytes, as: UTF8.self), "\u{202E}evil\u{2066}", "\u{9B}31m"]
      + [String(repeating: "\u{301}", count: 5_000), String(repeating: "漢", count: 3_000)]
    for text in hostile {
      var scene = opened(text, columns: 40, rows: 10)
      for _ in 0..<20 {
        GoldenFrame.checkCells(of: scene.dashboard.picture(isUnicode: isUnicode))
        scene.press("k")
      }
      scene.press("g")
      GoldenFrame.checkCells(of: scene.dashboard.picture(isUnicode: isUnicode))
    }
  }

  // MARK: Movement

  @Test("JR-21: The screen begins with the last lines, and reads only some lines around them")
  func opens() {
    let scene = opened(OutputScene.lines(0..<10_000))
    #expect(scene.numbers.last == 9_999 && scene.shows(" output of #1042 download"))
    #expect(scene.shows(" 100 % of 98 kB, ") && scene.shows(" following "))
    #expect(scene.requests.map(\.position) == [.end])
    #expect(scene.requests.allSatisfy { $0.lineLimit <= 100 })
    let page = scene.dashboard.detail?.log?.output?.page
    #expect((page?.lines.count ?? .max) <= 200)
  }

  @Test("JR-21: The page keys show each line, from the first one to the last one and back")
  func pages() {
    var scene = opened(OutputScene.lines(0..<1_000))
    scene.press("g")
    #expect(scene.numbers.first == 0 && scene.shows("G follows"))
    let height = scene.numbers.count
    var seen = scene.numbers
    while !scene.shows("following"), seen.count < 2_000 {
      scene.press(.pageDown)
      seen += scene.numbers.filter { $0 > seen.last ?? 0 }
    }
    #expect(seen == Array(0..<1_000))
    var isGapless = true
    while scene.numbers.first != 0, isGapless {
      let first = scene.numbers.first ?? 0
      scene.press(.pageUp)
      isGapless = scene.numbers.first == max(0, first - height)
    }
    #expect(isGapless)
  }

  @Test("The arrow keys move by one row, and the position is shown")
  func arrows() {
    var scene = opened(OutputScene.lines(0..<1_000))
    scene.press("kkk")
    #expect(scene.numbers.last == 996 && scene.shows(" 99 % of 8.8 kB, "))
    scene.press("jj")
    #expect(scene.numbers.last == 998 && scene.shows("G follows"))
    scene.press("j")
    #expect(scene.numbers.last == 999 && scene.shows("following"))
    scene.press("g")
    #expect(scene.shows(" 1 % of 8.8 kB, "))
  }

  @Test("JR-21: A line without end is shown in pieces, and the keys pass all of them")
  func longLine() {
    // The reader cuts a long line into pieces, which are lines without a newline between them.
    var scene = opened(
      (0..<70).map { "\($0) " + String(repeating: "x", count: 1_000) + "\n" }.joined())
    scene.press("g")
    #expect(scene.dashboard.text().contains("  0"))
    for _ in 0..<100 where !scene.shows("following") { scene.press(.pageDown) }
    #expect(scene.shows("following"))
    scene.press("g")
    scene.press("j")
    let requests = scene.requests
    #expect(requests.allSatisfy { $0.lineLimit < 100 })
  }

  @Test("If the whole output fits on the screen, the screen follows it")
  func shortOutput() {
    var scene = opened("one\ntwo")
    #expect(scene.shows("  one") && scene.shows("  two") && scene.shows(" 100 % of 7 B, "))
    for keys in ["g", "k", "j", "G"] {
      scene.press(keys)
      #expect(scene.shows("following"), "\(keys)")
    }
  }

  // MARK: Changes of the file

  @Test("JR-21: While the screen follows, it shows new lines at the next frame")
  func follows() {
    var scene = opened(OutputScene.lines(0..<100))
    scene.files[0] += OutputScene.lines(100..<150)
    #expect(scene.numbers.last == 99)
    scene.tick()
    #expect(scene.numbers.last == 149)
    scene.press("kk")
    let held = scene.numbers
    scene.files[0] += OutputScene.lines(150..<400)
    scene.tick()
    #expect(scene.numbers == held && scene.shows(" 35 % of 3.4 kB, "))
    scene.press("G")
    #expect(scene.numbers.last == 399 && scene.shows("following"))
  }

  @Test("A paused screen does not read the file again")
  func pause() {
    var scene = opened(OutputScene.lines(0..<100))
    scene.press("p")
    scene.files[0] += OutputScene.lines(100..<150)
    scene.tick()
    #expect(scene.numbers.last == 99 && scene.requests.isEmpty)
    scene.press("p")
    scene.tick()
    #expect(scene.numbers.last == 149)
  }

  @Test("An unchanged file is not sent again")
  func unchanged() {
    var scene = opened(OutputScene.lines(0..<100))
    scene.tick()
    #expect(scene.requests.count == 1 && scene.requests.allSatisfy { $0.known != nil })
    scene.press("q")
    scene.press("L")
    #expect(scene.requests.allSatisfy { $0.known == nil } && scene.numbers.last == 99)
  }

  @Test("JR-21: If the file becomes shorter, the screen shows its end")
  func shrinks() {
    var scene = opened(OutputScene.lines(0..<1_000))
    scene.press("kk")
    scene.files[0] = OutputScene.lines(0..<50)
    scene.tick()
    scene.tick()
    #expect(scene.numbers.last == 49 && scene.shows("following"))
    scene.press("g")
    #expect(scene.numbers.first == 0)
  }

  @Test("JR-21: If the file vanishes, the screen shows the stored log lines")
  func vanishes() {
    var scene = opened(OutputScene.lines(0..<1_000))
    scene.report(LogScene.log(0..<3))
    scene.press("/line 7")
    scene.files[0] = ""
    scene.tick()
    #expect(scene.shows(" log of #1042") && scene.shows("2: cache miss"))
    scene.press(.escape)
    scene.press("gjkG")
    scene.files[0] = OutputScene.lines(0..<30)
    scene.tick()
    #expect(scene.shows(" output of #1042") && scene.numbers.last == 29)
  }

  // MARK: Without output

  @Test("The screen says why a job has no output")
  func empty() {
    var scene = opened()
    #expect(scene.shows("The job has not started."))
    scene.files = [""]
    scene.tick()
    #expect(scene.shows("The job has printed nothing."))
    scene.files = ["", ""]
    scene.tick()
    scene.press("<")
    #expect(scene.shows("Attempt 1 has printed nothing.") && scene.shows("attempt 1 of 2"))
  }

  @Test("The screen shows the stored log lines of a job without output")
  func storedLines() {
    var scene = opened("")
    scene.report(LogScene.log(0..<50))
    #expect(scene.shows(" 50 lines,") && scene.shows("49: connected"))
    scene.press("g/mirror ANS")
    #expect(scene.shows("find in log: mirror ANS_   1 of 7"))
  }

  @Test("Only a dashboard of jobs of its own process requests the output of jobs")
  func otherSources() {
    var dashboard = LogScene.dashboard()
    #expect(dashboard.press("L") == [])
    #expect(dashboard.take(.tick(dashboard.now)) == [])
    #expect(dashboard.press("<") == [.bell])
  }

  // MARK: Attempts

  @Test("JR-21: < and > show the output of each attempt")
  func attempts() {
    var scene = opened("alpha\n", "beta\n", "gamma\n")
    #expect(scene.shows("attempt 3 of 3") && scene.shows("  gamma"))
    scene.press("<")
    #expect(scene.shows("attempt 2 of 3") && scene.shows("  beta"))
    scene.press("<")
    #expect(scene.shows("attempt 1 of 3") && scene.shows("  alpha"))
    #expect(scene.press("<") == [.bell])
    #expect(scene.shows("there is no earlier attempt") && scene.shows("  alpha"))
    scene.press(">>")
    #expect(scene.shows("attempt 3 of 3") && scene.shows("  gamma"))
    #expect(scene.press(">") == [.bell])
  }

  @Test("JR-21: The screen follows the latest attempt, and keeps the lines that the user reads")
  func newAttempt() {
    var scene = opened(OutputScene.lines(0..<100))
    #expect(!scene.shows("attempt"))
    scene.files.append("beta\n")
    scene.tick()
    #expect(scene.shows("attempt 2 of 2") && scene.shows("  beta"))
    scene.files[1] = OutputScene.lines(0..<100)
    scene.tick()
    scene.press("kk")
    let held = scene.numbers
    scene.files.append("gamma\n")
    scene.tick()
    #expect(scene.numbers == held && scene.shows("attempt 2 of 3"))
    scene.press("G")
    scene.tick()
    #expect(scene.shows("attempt 3 of 3") && scene.shows("  gamma"))
    scene.press("<")
    scene.files.append("delta\n")
    scene.tick()
    #expect(scene.shows("attempt 2 of 4"))
  }
}
