// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of every view in every situation, drawn as on a terminal without colors, bold and reverse
/// text. Every fact that a color or a text style shows must also be readable in the characters.
@Suite("Without colors")
struct PlainTextTests {
  /// A situation of the dashboard, and words that the screen must contain.
  struct Situation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Words that a screen of any size must contain.
    let facts: [String]
    /// Words that a screen of any size except the smallest must contain.
    var moreFacts: [String] = []
    let make: @Sendable (Size) -> Dashboard
  }

  static let sizes = [
    Size(columns: 40, rows: 10), Size(columns: 80, rows: 24), Size(columns: 120, rows: 40),
  ]

  /// Returns a dashboard that has received the state of ``Scene`` and then some keys.
  private static func scene(_ keys: String = "", _ size: Size) -> Dashboard {
    var dashboard = Scene.dashboard(columns: size.columns, rows: size.rows)
    // The first key hides the hint about the keys, in whose row the warnings are shown.
    press("g" + keys, in: &dashboard)
    return dashboard
  }

  /// Types keys. `\t` is Tab and `\r` is Enter.
  private static func press(_ keys: String, in dashboard: inout Dashboard) {
    for key in keys {
      switch key {
      case "\t": dashboard.press(.tab)
      case "\r": dashboard.press(.enter)
      default: dashboard.press(String(key))
      }
    }
  }

  private static func history(_ view: Unicode.Scalar, _ keys: String, _ size: Size) -> Dashboard {
    var dashboard = HistoryScene.dashboard(columns: size.columns, rows: size.rows)
    dashboard.take(.input(.alt(view)))
    HistoryScene.report(&dashboard, skipped: 7)
    press(keys, in: &dashboard)
    return dashboard
  }

  private static func warned(_ keys: String, _ size: Size) -> Dashboard {
    var dashboard = scene(keys, size)
    var update = Scene.update
    update.warnings = [
      MonitorWarning(
        kind: .cycle, operations: [OperationReport.ID(1180), OperationReport.ID(1181)], count: 4),
      MonitorWarning(
        kind: .cancelNotHonoured, operations: [OperationReport.ID(1077)], since: Scene.seconds(98)),
    ]
    update.lostChanges = 12
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }

  private static func attached(_ size: Size, _ messages: MonitorMessage...) -> Dashboard {
    var dashboard = PickerScene.attached(columns: size.columns, rows: size.rows)
    for message in messages { dashboard.take(.monitor(message)) }
    return dashboard
  }

  private static var late: Update {
    var update = Scene.update
    update.behind = .milliseconds(1_249)
    return update
  }

  static let situations: [Situation] = [
    Situation(
      testDescription: "list", facts: ["executing", "cancelling", "LIVE"],
      moreFacts: ["ready", "held", "waiting", "SUSPENDED", "net is suspended"]
    ) { scene("", $0) },
    Situation(testDescription: "list, end", facts: ["finished"], moreFacts: ["canc"]) {
      scene("G", $0)
    },
    Situation(testDescription: "tagged", facts: ["▌*#1080|▌* d #1080"], moreFacts: ["1 tagged"]) {
      scene("jj k", $0)
    },
    Situation(testDescription: "pinned", facts: [], moreFacts: ["pinned"]) { scene("F", $0) },
    Situation(testDescription: "keys", facts: ["cancel by key|X: press a letter"]) {
      scene("X", $0)
    },
    Situation(testDescription: "paused", facts: ["PAUSED"]) { scene("p", $0) },
    Situation(testDescription: "sort menu", facts: ["sort: i Id"]) { scene("s", $0) },
    Situation(testDescription: "number", facts: ["go to #10"]) { scene("10", $0) },
    Situation(testDescription: "filter", facts: ["filter: state:exec_"]) {
      scene("\\state:exec", $0)
    },
    Situation(
      testDescription: "bad filter", facts: ["color:red_"], moreFacts: ["unknown field color"]
    ) {
      scene("\\color:red", $0)
    },
    Situation(testDescription: "search", facts: ["find: merge_"]) { scene("/merge", $0) },
    Situation(testDescription: "question", facts: ["Cancel #1042", "n", "y"]) { scene("x", $0) },
    Situation(testDescription: "name", facts: ["w closes"]) { scene("w", $0) },
    Situation(testDescription: "help", facts: ["Space", "tag row"]) { scene("?", $0) },
    Situation(testDescription: "tree", facts: ["#1200", "┡━"], moreFacts: ["critical path"]) {
      scene("1200\rd", $0)
    },
    Situation(testDescription: "roots", facts: ["ROOTS 6"]) { scene("t", $0) },
    Situation(testDescription: "queues", facts: ["▌ cpu", "SUSPENDED"], moreFacts: ["2/2"]) {
      scene("\t\t", $0)
    },
    Situation(
      testDescription: "detail", facts: ["cancelling 4.20s"], moreFacts: ["isCancelled 1", "life"]
    ) { scene("1077\r\r", $0) },
    Situation(testDescription: "timeline", facts: ["▶"], moreFacts: ["▒"]) {
      history("4", "", $0)
    },
    Situation(testDescription: "events", facts: ["following"], moreFacts: ["not shown"]) {
      history("5", "", $0)
    },
    Situation(testDescription: "events, older", facts: ["G follows"]) { history("5", "kkk", $0) },
    Situation(
      testDescription: "deadlock", facts: ["DEADLOCK", "! 2"], moreFacts: ["not recorded: 12"]
    ) {
      warned("", $0)
    },
    Situation(testDescription: "warned", facts: ["!#1077|! g #1077"]) { warned("H", $0) },
    Situation(testDescription: "ended", facts: ["ENDED"], moreFacts: ["ended: it is over"]) {
      var dashboard = scene("", $0)
      dashboard.take(.monitor(.ended(reason: "it is over")))
      return dashboard
    },
    Situation(testDescription: "attached", facts: ["ATTACHED rw"]) { attached($0) },
    Situation(testDescription: "read-only", facts: ["read-only: nothing can be changed"]) {
      var dashboard = PickerScene.attached(
        to: PickerScene.imaged, columns: $0.columns, rows: $0.rows)
      dashboard.press("x")
      return dashboard
    },
    Situation(testDescription: "behind", facts: ["behind 1.2s"]) { attached($0, .update(late)) },
    Situation(testDescription: "lost", facts: ["RECONNECTING"], moreFacts: ["connection lost"]) {
      attached($0, .disconnected(reason: "reset"))
    },
    Situation(
      testDescription: "exited", facts: ["EXITED 12:04:31"], moreFacts: ["can be inspected"]
    ) {
      attached($0, .ended(reason: "the process has exited"))
    },
    Situation(
      testDescription: "picker", facts: ["▌   5002", " *  4711", "attached", "too old for this"]
    ) {
      PickerScene.picker(
        [PickerScene.tilebuild, PickerScene.imaged, PickerScene.oldtool], columns: $0.columns,
        rows: $0.rows)
    },
  ]

  @Test("Every fact that a style shows is in the text too", arguments: situations)
  func factsAreInTheText(situation: Situation) {
    for size in Self.sizes {
      let dashboard = situation.make(size)
      let text = dashboard.text()
      let facts = situation.facts + (size.rows > 10 ? situation.moreFacts : [])
      for fact in facts {
        let isFound = fact.split(separator: "|").contains { text.shows(String($0)) }
        #expect(isFound, "\(fact) at \(size):\n\(text.joined(separator: "\n"))")
      }
      for isUnicode in [true, false] {
        let picture = dashboard.picture(isUnicode: isUnicode)
        for problem in StyleEvidence(picture: picture, isUnicode: isUnicode).problems {
          Issue.record("\(size), Unicode \(isUnicode): \(problem)")
        }
      }
    }
  }

  @Test func aStyleWithoutATextMarkerIsFound() {
    func problems(_ text: String, _ style: Style) -> Int {
      var canvas = Canvas(size: Size(columns: 40, rows: 10), capabilities: Capabilities())
      canvas.write(text, row: 1, columns: 0..<40, style: style)
      return StyleEvidence(picture: canvas.grid, isUnicode: true).problems.count
    }
    #expect(problems("12", Style(.held)) == 1)
    #expect(problems("held", Style(.held)) == 0)
    #expect(problems("name", Style(.executing)) == 1)
    #expect(problems("├─", Style(.accent)) == 1)
    #expect(problems("┡━", Style(.accent)) == 0)
    #expect(problems("17", Style(.warning)) == 1)
    #expect(problems("selected", .selected) == 1)
    #expect(problems("▌selected", .selected) == 0)
  }
}
