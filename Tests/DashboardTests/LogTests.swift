// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene``, in which operation 1042 has logged lines.
enum LogScene {
  static let id = OperationReport.ID(1042)

  /// Texts of lines. One of them contains escape sequences, and one is longer than a screen is wide.
  private static let texts: [(LogLine.Level, String)] = [
    (.info, "connected to eu-west-1 host=tiles.example"), (.debug, "GET /14/8512/5472"),
    (.trace, "cache miss key=14/8512/5472"),
    (.warning, "slow answer: 2.4 s \u{1B}[31mred\u{1B}[0m \u{1B}]0;title\u{7}"),
    (
      .error,
      "the connection was reset by the server, retrying with the mirror in 2 s "
        + "(attempt 2 of 5, backoff 2.0, jitter 0.3), because the limit of attempts is not reached"
    ),
    (.notice, "mirror answers"), (.critical, "disk almost full free=1%"),
  ]

  static func line(_ number: Int) -> LogLine {
    let (level, text) = texts[number % texts.count]
    return LogLine(
      time: Scene.seconds(90 + Double(number) / 10), level: level, text: "\(number): \(text)")
  }

  static func log(_ numbers: Range<Int>) -> OperationLog {
    OperationLog(of: id, first: UInt64(numbers.lowerBound), lines: numbers.map(line))
  }

  /// Returns the dashboard with the operation selected in the list.
  static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("1042")
    dashboard.press(.enter)
    return dashboard
  }

  /// Sends an update with log lines.
  static func report(_ logs: OperationLog..., to dashboard: inout Dashboard) {
    var update = FakeMonitor(Array(dashboard.live.operations.all)).update(
      for: dashboard.connection.interest, queues: dashboard.live.queues, changed: [], removed: [],
      warnings: dashboard.live.warnings, at: dashboard.now)
    update.logs = logs
    dashboard.take(.monitor(.update(update)))
  }
}

@Suite("Log lines on the screen") struct LogTests {
  private static let sizes = [(80, 24), (120, 40), (40, 10)]

  private func opened(
    columns: Int = 80, rows: Int = 24, _ numbers: Range<Int> = 0..<50
  ) -> Dashboard {
    var dashboard = LogScene.dashboard(columns: columns, rows: rows)
    dashboard.press("L")
    LogScene.report(LogScene.log(numbers), to: &dashboard)
    return dashboard
  }

  /// The numbers of the log lines whose first row is on the screen.
  private func numbers(_ dashboard: Dashboard) -> [Int] {
    dashboard.text().compactMap { row in
      let words = row.drop { $0 == "▌" || $0 == " " }.split(separator: " ")
      guard words.count > 2, words[0].contains(":"), words[2].hasSuffix(":") else { return nil }
      return Int(words[2].dropLast())
    }
  }

  // MARK: Frames

  @Test("The log screen looks as stored", arguments: sizes)
  func logScreen(columns: Int, rows: Int) {
    let dashboard = opened(columns: columns, rows: rows, 12..<62)
    GoldenFrame.check(dashboard, named: "log")
  }

  @Test("The log screen with a search looks as stored", arguments: [(80, 24), (120, 40)])
  func searchScreen(columns: Int, rows: Int) {
    var dashboard = opened(columns: columns, rows: rows, 12..<62)
    dashboard.press("g/MIRROR")
    GoldenFrame.check(dashboard, named: "log-search")
  }

  @Test("The detail screen with log lines looks as stored", arguments: sizes)
  func detailScreen(columns: Int, rows: Int) {
    var dashboard = LogScene.dashboard(columns: columns, rows: rows)
    dashboard.press(.enter)
    LogScene.report(LogScene.log(12..<62), to: &dashboard)
    GoldenFrame.check(dashboard, named: "log-detail")
  }

  @Test("No escape sequence in a line reaches the screen", arguments: [true, false])
  func escapeSequences(isUnicode: Bool) {
    var dashboard = opened()
    let hostile =
      (0x00...0xA0).compactMap { Unicode.Scalar($0) }.map { "a\($0)b" }
      + ["\u{202E}evil\u{2066}", "\u{1B}[2J\u{1B}]52;c;AAAA\u{7}", "\u{9B}31m"]
    for (number, text) in hostile.enumerated() {
      let line = LogLine(time: Scene.now, level: .info, text: text)
      LogScene.report(
        OperationLog(of: LogScene.id, first: 1_000 + UInt64(number), lines: [line]), to: &dashboard)
      #expect(dashboard.shown.log(of: LogScene.id)?.lines.last?.text == text)
      GoldenFrame.checkCells(of: dashboard.picture(isUnicode: isUnicode))
      dashboard.press("q")
      dashboard.press(.enter)
      GoldenFrame.checkCells(of: dashboard.picture(isUnicode: isUnicode))
      dashboard.press("L")
    }
  }

  // MARK: The detail screen

  @Test("The detail screen shows the last lines, and new lines as they arrive")
  func detailFollows() {
    var dashboard = LogScene.dashboard(columns: 120, rows: 40)
    dashboard.press(.enter)
    #expect(dashboard.connection.interest.logs == .operations([LogScene.id]))
    #expect(!dashboard.text().shows("log line"))
    LogScene.report(LogScene.log(0..<3), to: &dashboard)
    #expect(dashboard.text().shows(" 3 log lines "))
    #expect(numbers(dashboard) == [0, 1, 2])
    LogScene.report(LogScene.log(3..<50), to: &dashboard)
    let shown = numbers(dashboard)
    #expect(shown.last == 49 && shown.count >= 5)
    #expect(dashboard.text().shows(" last \(shown.count) of 50 log lines; L shows all "))
    LogScene.report(LogScene.log(50..<51), to: &dashboard)
    #expect(numbers(dashboard).last == 50)
    dashboard.press("q")
    #expect(dashboard.connection.interest.logs == .operations([]))
  }

  @Test("The detail screen has at least five log lines, also on a small screen")
  func smallDetail() {
    var dashboard = LogScene.dashboard(columns: 80, rows: 12)
    dashboard.press(.enter)
    LogScene.report(LogScene.log(0..<50), to: &dashboard)
    var seen: Set<Int> = []
    for _ in 0..<40 {
      seen.formUnion(numbers(dashboard))
      dashboard.press("j")
    }
    #expect(seen == [45, 46, 47, 48, 49])
  }

  // MARK: The log screen

  @Test("L opens the log from the list and from the detail, and q returns there")
  func opens() {
    var dashboard = LogScene.dashboard()
    dashboard.press("L")
    #expect(dashboard.keyContext == .log)
    #expect(dashboard.connection.interest.logs == .operations([LogScene.id]))
    dashboard.press("q")
    #expect(dashboard.keyContext == .list)
    dashboard.press(.enter)
    dashboard.press("L")
    #expect(dashboard.keyContext == .log)
    dashboard.press(.escape)
    #expect(dashboard.keyContext == .detail)
  }

  @Test("The screen says why there are no lines")
  func empty() {
    var dashboard = LogScene.dashboard()
    dashboard.press("L")
    #expect(dashboard.text().shows("No log lines have arrived."))
    LogScene.report(OperationLog(of: LogScene.id), to: &dashboard)
    #expect(dashboard.text().shows("The operation has logged nothing."))
    #expect(dashboard.text().shows("Press ? to read how a program sends its log lines."))
    LogScene.report(OperationLog(of: LogScene.id, mayBeDropped: true), to: &dashboard)
    #expect(
      dashboard.text().shows(
        "The operation has logged nothing, or the process has dropped its lines."))
    dashboard.press("?")
    for _ in 0..<40 where !dashboard.text().shows("OperationLogHandler") { dashboard.press("j") }
    #expect(dashboard.text().shows("OperationLogHandler"))
  }

  @Test("The screen follows new lines until a key moves it, and again at the end")
  func follows() {
    var dashboard = opened(0..<40)
    #expect(numbers(dashboard).last == 39 && dashboard.text().shows("following"))
    LogScene.report(LogScene.log(40..<42), to: &dashboard)
    #expect(numbers(dashboard).last == 41)
    dashboard.press("kkk")
    #expect(dashboard.text().shows("G follows"))
    let held = numbers(dashboard)
    LogScene.report(LogScene.log(42..<45), to: &dashboard)
    #expect(numbers(dashboard) == held)
    dashboard.press("G")
    #expect(numbers(dashboard).last == 44 && dashboard.text().shows("following"))
    dashboard.press("k")
    dashboard.press("jj")
    #expect(dashboard.text().shows("following"))
    dashboard.press("g")
    #expect(numbers(dashboard).first == 0)
  }

  @Test("When the first line on the screen is dropped, the screen shows the next line first")
  func dropsLines() {
    var dashboard = opened(0..<50)
    dashboard.press("gjjj")
    let first = numbers(dashboard).first
    LogScene.report(LogScene.log(50..<60), to: &dashboard)
    #expect(numbers(dashboard).first == max(first ?? 0, 10))
    dashboard.press("g")
    #expect(dashboard.text().shows("  10 earlier lines were dropped"))
    #expect(numbers(dashboard).first == 10)
  }

  @Test("A long line is shown completely, in several rows")
  func longLine() {
    var dashboard = opened(4..<5)
    let text = dashboard.text().joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(text.contains("because the limit of attempts is not reached"))
    dashboard.take(.resized(Size(columns: 40, rows: 10)))
    #expect(dashboard.text().shows("reached"))
  }

  // MARK: Search

  @Test("A search selects the first match as it is typed, and n and N select the other matches")
  func search() {
    var dashboard = opened(0..<50)
    // The lines 5, 12, 19 and so on contain the text; the lines 4, 11 and so on too.
    dashboard.press("g/mirror ANS")
    #expect(dashboard.text().shows("find in log: mirror ANS_   1 of 7"))
    #expect(selected(dashboard) == 5)
    dashboard.press(.enter)
    #expect(dashboard.text().shows("/mirror ANS: 1 of 7"))
    dashboard.press("n")
    #expect(selected(dashboard) == 12)
    dashboard.press("NN")
    #expect(selected(dashboard) == 47)
    dashboard.press("n")
    #expect(selected(dashboard) == 5)
    // Six lines arrive, one of which contains the text, and the selected line is dropped with five others.
    LogScene.report(LogScene.log(50..<56), to: &dashboard)
    #expect(selected(dashboard) == nil && dashboard.text().shows("/mirror ANS: 7 matches"))
  }

  @Test("Esc in the search prompt restores the lines before the search")
  func cancelledSearch() {
    var dashboard = opened(0..<50)
    let before = numbers(dashboard)
    dashboard.press("/1: GET")
    #expect(numbers(dashboard) != before)
    dashboard.press(.escape)
    #expect(numbers(dashboard) == before && dashboard.text().shows("following"))
    #expect(selected(dashboard) == nil)
  }

  @Test("A search without a match, and a repeated search without a text, are refused")
  func noMatch() {
    var dashboard = opened(0..<50)
    #expect(dashboard.press("n") == [.bell])
    #expect(dashboard.text().shows("no search text; press / to search"))
    dashboard.press("/nothing")
    #expect(dashboard.text().shows("no match"))
    dashboard.press(.enter)
    #expect(dashboard.press("n") == [.bell])
    #expect(dashboard.text().shows("no match for nothing"))
  }

  /// The number of the line with the mark of the selected match.
  private func selected(_ dashboard: Dashboard) -> Int? {
    let row = dashboard.text().first { $0.hasPrefix("▌") }
    return row?.split(separator: " ").dropFirst(3).first.flatMap { Int($0.dropLast()) }
  }
}
