// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("The bar of a replay") struct ReplayBarTests {
  static let marks = ReplayMarks(
    warnings: [12, 30, 31, 88].map { .seconds($0) }, failures: [45, 88, 102].map { .seconds($0) })

  static func status(
    _ position: Double = 41, of length: Double = 102, marks: ReplayMarks = marks
  ) -> ReplayStatus {
    ReplayStatus(
      time: Scene.seconds(position), position: .seconds(position), length: .seconds(length),
      speed: 0, isPlaying: true, marks: marks)
  }

  /// Returns a dashboard that replays a recording of 102 s. The first update is at 12:02:49.
  static func dashboard(
    columns: Int = 80, rows: Int = 24, _ status: ReplayStatus = status()
  ) -> Dashboard {
    var dashboard = Dashboard(configuration: .init(source: .recording("a.opqrec")))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(Scene.seconds(9_000)))
    dashboard.take(.replay(status))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    return dashboard
  }

  /// Returns the cells of a bar in a row of this width.
  private func cells(_ status: ReplayStatus, columns: Int, isUnicode: Bool = true) -> [Cell] {
    var canvas = Canvas(
      size: Size(columns: columns, rows: 1), capabilities: Capabilities(isUnicode: isUnicode))
    ReplayBar(status, columns: 0..<columns).draw(row: 0, on: &canvas)
    return Array(canvas.grid.row(0))
  }

  private func text(_ status: ReplayStatus, columns: Int, isUnicode: Bool = true) -> String {
    String(
      String.UnicodeScalarView(
        cells(status, columns: columns, isUnicode: isUnicode).map(\.scalar)))
  }

  private let plain = ReplayMarks()

  @Test(
    "RB-1, RB-2: A replay with a bar looks as stored", arguments: [(80, 24), (120, 40), (200, 60)])
  func picture(columns: Int, rows: Int) {
    GoldenFrame.check(Self.dashboard(columns: columns, rows: rows), named: "replay-bar")
  }

  @Test("RB-1: the bar is played up to the position, and has the times of both ends")
  func position() {
    #expect(text(Self.status(0, of: 10, marks: plain), columns: 25) == " 00:00 ●────────── 00:10 ")
    #expect(text(Self.status(4, of: 10, marks: plain), columns: 25) == " 00:00 ━━━━●────── 00:10 ")
    #expect(text(Self.status(10, of: 10, marks: plain), columns: 25) == " 00:00 ━━━━━━━━━━● 00:10 ")
    #expect(
      text(Self.status(4, of: 10, marks: plain), columns: 25, isUnicode: false)
        == " 00:00 ====O------ 00:10 ")
    #expect(
      text(Self.status(0, of: 3_723, marks: plain), columns: 27) == " 00:00 ●────────── 1:02:03 ")
  }

  @Test("RB-1: a bar without room for times has none")
  func narrow() {
    #expect(text(Self.status(5, of: 10, marks: plain), columns: 13) == " ━━━━━●───── ")
    for columns in 0..<13 { _ = text(Self.status(), columns: columns) }
  }

  @Test("RB-2: a new warning has the mark ! and a failure the mark x, which is red")
  func marks() {
    let marks = ReplayMarks(warnings: [.seconds(2)], failures: [.seconds(9)])
    #expect(text(Self.status(4, of: 10, marks: marks), columns: 25) == " 00:00 ━━!━●────x─ 00:10 ")
    let cells = cells(Self.status(4, of: 10, marks: marks), columns: 25)
    #expect(cells.first { $0.scalar == "!" }?.style.role == .warning)
    #expect(cells.first { $0.scalar == "x" }?.style.role == .failed)
  }

  @Test("RB-1, RB-2: a cell with several marks shows the failure, and the position stays visible")
  func severalMarks() {
    let marks = ReplayMarks(
      warnings: [4, 4.1, 9].map { .seconds($0) }, failures: [4.2, 10].map { .seconds($0) })
    let status = Self.status(4, of: 10, marks: marks)
    #expect(text(status, columns: 25) == " 00:00 ━━━━●────!x 00:10 ")
    let position = cells(status, columns: 25)[11]
    #expect(position.style.isReversed && position.style.role == .failed)
  }

  @Test(
    "RB-1: the position is visible on each mark, at each width", arguments: Effort.sample(3...210))
  func positionOnMarks(columns: Int) {
    for (time, role) in [(12.0, Role.warning), (30, .warning), (45, .failed), (102, .failed)] {
      let cells = cells(Self.status(time), columns: columns).filter { $0.scalar == "●" }
      #expect(cells.count == 1, "\(time)")
      // On a narrow screen, other marks share the cell.
      if columns == 210 { #expect(cells.first?.style.role == role, "\(time)") }
    }
    #expect(text(Self.status(45), columns: columns, isUnicode: false).contains("O"))
  }

  @Test("RB-2: every mark of many is drawn, at each width", arguments: Effort.sample(30...210))
  func manyMarks(columns: Int) {
    var random = SeededGenerator(seed: UInt64(columns))
    for _ in 0..<20 {
      let times = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        Duration.milliseconds(Int.random(in: 0...102_000, using: &random))
      }.sorted()
      let status = Self.status(marks: ReplayMarks(failures: times))
      let bar = ReplayBar(status, columns: 0..<columns)
      let drawn = Set(cells(status, columns: columns).indices { isFailure($0) }.ranges.joined())
      let step = Duration.seconds(102) / 2 / (columns - 15)
      for time in times {
        // The moments of the columns with a mark differ from the mark by at most half a cell.
        #expect(
          drawn.contains { column in
            bar.time(at: column).map { abs($0 - time) <= step + .milliseconds(1) } == true
          })
      }
      #expect(drawn.count <= times.count)
    }
  }

  /// Returns whether a cell shows a failure. The position is drawn on a mark in the color of the mark.
  private func isFailure(_ cell: Cell) -> Bool {
    cell.scalar == "x" || cell.scalar == "●" && cell.style.role == .failed
  }

  private func abs(_ duration: Duration) -> Duration { max(duration, .zero - duration) }

  @Test("RB-1: the ends of the bar are the beginning and the end of the recording")
  func times() {
    let bar = ReplayBar(Self.status(), columns: 0..<80)
    #expect(bar.time(at: 6) == nil && bar.time(at: 73) == nil)
    #expect(bar.time(at: 7) == .zero)
    #expect(bar.time(at: 72) == .seconds(102))
    let middle = bar.time(at: 39) ?? .zero
    #expect(middle > .seconds(49) && middle < .seconds(52))
    #expect(ReplayBar(Self.status(0, of: 0), columns: 0..<80).time(at: 30) == .zero)
  }

  @Test("RB-1: any times of a recording are drawn", arguments: 0..<Effort.scaled(30))
  func hostileTimes(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let numbers: [Int64] = [.min, -1, 0, 1, 1_000_000_000, 102_000_000_000, 1 << 61, .max]
    func duration() -> Duration { .nanoseconds(numbers.randomElement(using: &random) ?? 0) }
    for columns in [0, 1, 2, 3, 20, 40, 80] {
      let status = ReplayStatus(
        time: Scene.now, position: duration(), length: duration(),
        marks: ReplayMarks(
          warnings: [duration(), duration()].sorted(), failures: [duration(), duration()].sorted()))
      _ = text(status, columns: columns)
      for column in 0..<columns { _ = ReplayBar(status, columns: 0..<columns).time(at: column) }
    }
  }

  @Test("RB-3: a low screen has no bar, and a screen of a running process has none")
  func room() {
    #expect(Self.dashboard(rows: 24).screen.layout?.replayBar == 1)
    #expect(Self.dashboard(columns: 40, rows: 10).screen.layout?.replayBar == nil)
    #expect(Scene.dashboard().screen.layout?.replayBar == nil)
    var dashboard = Self.dashboard()
    dashboard.take(.replay(nil))
    #expect(dashboard.screen.layout?.replayBar == nil)
  }

  @Test(
    "RB-3: the screens of one operation and of one queue have the bar, and so have log and warnings"
  )
  func overlays() {
    for keys in ["\r", "L", "3!", "3\r"] {
      var dashboard = Self.dashboard()
      dashboard.settings.usesMouse = true
      for key in keys.unicodeScalars {
        let input: Input = key == "\r" ? .key(.enter) : key == "3" ? .alt("3") : .character(key)
        dashboard.take(.input(input))
      }
      #expect([.detail, .log, .warnings, .queue].contains(dashboard.keyContext), "\(keys)")
      #expect(dashboard.screen.overlayLayout?.replayBar == 1)
      let bar = dashboard.text()[1]
      #expect(bar.hasPrefix(" 00:00 ━") && bar.hasSuffix(" 01:42"), "\(bar)")
      #expect(dashboard.click(row: 1, column: 72) == [.replay(.go(to: .seconds(102)))])
      dashboard.take(.resized(Size(columns: 80, rows: 10)))
      #expect(dashboard.screen.overlayLayout?.replayBar == nil)
    }
  }

  @Test("RB-3: the help, the setup and the list of processes have no bar", arguments: "?Co")
  func otherOverlays(key: Character) {
    var dashboard = Self.dashboard()
    dashboard.press("\(key)")
    #expect([.help, .setup, .picker].contains(dashboard.keyContext))
    #expect(!dashboard.text().shows("━"))
  }

  @Test("RB-4: a paused replay needs no time, so nothing is written")
  func rest() {
    var status = Self.status()
    status.isPlaying = false
    let dashboard = Self.dashboard(status)
    #expect(dashboard.nextTick(after: dashboard.now) == nil)
  }

  // MARK: Random use

  private static let inputs =
    ReplayKeys.bindings.flatMap(\.inputs) + ReplayKeys.all.flatMap(\.inputs)
    + "0123456789:+-%smhd. ".unicodeScalars.map { .character($0) }
    + Array(repeating: [.character("@"), .key(.enter)], count: 5).joined()

  @Test(
    "T14: random keys in a replay never trap, and every picture is complete",
    arguments: 0..<Effort.scaled(20))
  func randomUse(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var dashboard = Self.dashboard()
    for _ in 0..<Effort.scaled(300) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        let size = Size(
          columns: Int.random(in: 0...140, using: &random),
          rows: Int.random(in: 0...45, using: &random))
        dashboard.take(.resized(size))
      case 1: dashboard.take(.replay(Self.status(Double.random(in: 0...102, using: &random))))
      case 2:
        dashboard.take(.monitor(.hello(Scene.hello)))
        var update = Scene.update
        update.runs = HistoryScene.runs
        dashboard.take(.monitor(.update(update)))
      default:
        guard let input = Self.inputs.randomElement(using: &random) else { continue }
        for effect in dashboard.take(.input(input)) {
          guard case .replay(.go(let position)) = effect else { continue }
          #expect(position >= .zero && position <= .seconds(102), "seed \(seed)")
        }
      }
      GoldenFrame.checkCells(of: dashboard.picture())
      let size = dashboard.screen.size
      #expect(dashboard.screen.layout == Layout(dashboard.layoutRequest(for: size)))
    }
  }
}
