// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Rate of finishing")
struct RateHistoryTests {
  private func moment(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  @Test func theRateIsUnknownDuringTheFirstSecond() {
    var history = RateHistory()
    #expect(history.rate == nil)
    history.note(total: 500, at: moment(10.2))
    history.note(total: 560, at: moment(10.9))
    #expect(history.rate == nil)
    history.advance(to: moment(11))
    #expect(history.samples == [60])
    #expect(history.rate == 60)
  }

  @Test func operationsBeforeTheFirstTotalDoNotCount() {
    var history = RateHistory()
    history.note(total: 1_000_000, at: moment(10))
    history.advance(to: moment(11))
    #expect(history.samples == [0])
  }

  @Test func eachSecondCountsTheReportsReceivedInIt() {
    var history = RateHistory()
    history.note(total: 0, at: moment(1))
    history.note(total: 20, at: moment(1.5))
    history.note(total: 50, at: moment(2.1))
    history.note(total: 51, at: moment(4))
    history.advance(to: moment(5.5))
    #expect(history.samples == [20, 30, 0, 1])
  }

  @Test func secondsAreAlignedToTheTimeOfDay() {
    var history = RateHistory()
    history.alignSeconds(
      to: Hello(
        processName: "", processID: 1, isReadOnly: false, anchor: moment(7.75),
        anchorSecondsSince1970: 100.5, processStarted: moment(0)))
    history.note(total: 0, at: moment(8))
    history.note(total: 3, at: moment(8.2))
    history.advance(to: moment(8.24))
    #expect(history.samples.isEmpty)
    history.advance(to: moment(8.25))
    #expect(history.samples == [3])
  }

  @Test func aRemovedQueueDoesNotLowerTheRate() {
    var history = RateHistory()
    history.note(total: 100, at: moment(1))
    history.note(total: 110, at: moment(1.1))
    history.note(total: 40, at: moment(1.2))
    history.note(total: 45, at: moment(1.3))
    history.advance(to: moment(2))
    #expect(history.samples == [15])
  }

  @Test func theLargestTotalsDoNotOverflow() {
    var history = RateHistory()
    history.note(total: 0, at: moment(0))
    for second in 0..<4 {
      for _ in 0..<3 {
        history.note(total: 1 << 62, at: moment(Double(second)))
        history.note(total: 0, at: moment(Double(second)))
      }
    }
    history.advance(to: moment(5))
    #expect(history.samples == [.max, .max, .max, .max, 0])
    #expect(history.rate == Double(Int.max) * 4 / 5)
    history.note(total: .min, at: moment(5))
    history.note(total: .max, at: moment(5))
    history.advance(to: moment(6))
    #expect(history.rate == Double(Int.max))
  }

  @Test func aSmallRateIsAMeanOfSeveralSeconds() {
    var history = RateHistory()
    history.note(total: 0, at: moment(0))
    for second in 1...8 { history.note(total: second / 2, at: moment(Double(second) + 0.5)) }
    history.advance(to: moment(9))
    #expect(history.rate == 0.6)
  }

  @Test func aLongPauseIsProcessedQuicklyAndEndsTheMovement() {
    var history = RateHistory()
    history.note(total: 0, at: moment(0))
    history.note(total: 9, at: moment(0.5))
    #expect(history.isMoving(within: 10))
    history.advance(to: moment(10))
    #expect(history.isMoving(within: 10))
    history.advance(to: moment(11))
    #expect(!history.isMoving(within: 10))
    history.advance(to: moment(1e9))
    #expect(history.samples.count == RateHistory.capacity)
  }
}

@Suite("Bars")
struct SparklineTests {
  private let unicode = Glyphs(isUnicode: true)
  private let ascii = Glyphs(isUnicode: false)

  @Test func onlyZeroIsDrawnAsZero() {
    let bars = Sparkline([0, 1, 1_000], cells: 3)
    #expect(bars.levels == [0, 1, 7])
    #expect(bars.text(unicode) == "▁▂█")
    #expect(bars.text(ascii) == "_.#")
  }

  @Test func theHighestVisibleValueFillsItsCell() {
    let bars = Sparkline([900, 7, 14, 3], cells: 3)
    #expect(bars.scale == 14)
    #expect(bars.levels == [4, 7, 2])
  }

  @Test func zeroesAreDrawnAsALine() {
    #expect(Sparkline([0, 0], cells: 9).text(unicode) == "▁▁")
    #expect(Sparkline([], cells: 9).text(unicode).isEmpty)
    #expect(Sparkline([1, 2], cells: -1).text(unicode).isEmpty)
  }

  @Test func hugeNumbersDoNotOverflow() {
    #expect(Sparkline([.max, .max / 2, 0], cells: 3).levels == [7, 4, 0])
  }

  @Test func anAreaIsFilledFromBelow() {
    let area = Sparkline([0, 1, 50, 100], cells: 4)
    #expect(area.areaText(row: 1, height: 2, unicode) == "   █")
    #expect(area.areaText(row: 0, height: 2, unicode) == " ▁██")
    #expect(area.areaText(row: 1, height: 2, ascii) == "   #")
    #expect(area.areaText(row: 0, height: 2, ascii) == " .##")
  }
}
