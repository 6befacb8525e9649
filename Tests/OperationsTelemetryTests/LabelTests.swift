// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsTelemetry

@Suite struct LabelTests {
  @Test(arguments: [
    ("plain name-1.0/é 🎉", "plain name-1.0/é 🎉"), ("", "_"), ("a\"b", "a'b"), ("a\\b", "a/b"),
    ("a\n\r\tb\u{0}\u{7F}", "a\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD}\u{FFFD}"),
    ("\u{202E}x\u{2028}\u{FFFE}", "\u{FFFD}x\u{FFFD}\u{FFFD}"),
  ])
  func aNameIsMadeHarmless(_ name: String, _ harmless: String) {
    #expect(LabelText.harmless(name) == harmless)
  }

  @Test func aLongNameIsCut() {
    let whole = String(repeating: "x", count: LabelText.limit)
    #expect(LabelText.harmless(whole) == whole)
    let cut = LabelText.harmless(whole + "y")
    #expect(cut == whole.dropLast() + "…")
    let marks = LabelText.harmless("e" + String(repeating: "\u{301}", count: 1_000_000))
    #expect(marks.unicodeScalars.count == LabelText.limit)
  }

  @Test func theNameUnusedForLongestLosesItsLabel() {
    var labels = QueueLabels()
    let names = Set((0..<QueueLabels.limit).map { "q\($0)" })
    #expect(labels.begin(with: names).isEmpty)
    #expect(labels.begin(with: names.union(["new"])).isEmpty)
    #expect(labels.label(for: "new") == QueueLabels.other)
    #expect(labels.begin(with: names.subtracting(["q5"])).isEmpty)
    #expect(labels.begin(with: names.subtracting(["q5", "q3"])).isEmpty)
    #expect(labels.label(for: "q5") == "q5")
    #expect(labels.begin(with: names.subtracting(["q5", "q3"]).union(["new"])) == ["q5"])
    #expect(labels.label(for: "new") == "new")
    #expect(labels.label(for: "q5") == QueueLabels.other)
  }

  @Test func aKindKeepsItsTimersUntilItsQueueIsDropped() {
    var kinds = TimerKinds()
    for number in 0..<TimerKinds.limit {
      #expect(kinds.label(for: "C\(number)", in: "a") == "C\(number)")
    }
    #expect(kinds.label(for: "D", in: "b") == TimerKinds.other)
    #expect(kinds.label(for: "C0", in: "a") == "C0")
    kinds.drop(queue: "a")
    #expect(kinds.label(for: "D", in: "b") == "D")
  }

  @Test func theInterestMatchesFinishedAndCancelledOperationsOnly() throws {
    let filter = try #require(TelemetryInterest.make(wantsWarnings: true).filter)
    for state in OperationState.allCases {
      let report = OperationReport(
        id: OperationReport.ID(1), name: "x", className: "X", queue: QueueReport.ID(1), state: state
      )
      let isWithin = filter.matches(report, queueName: "", at: MonitorTime(nanoseconds: 0))
      #expect(isWithin == state.isOver, "\(state)")
    }
  }
}
