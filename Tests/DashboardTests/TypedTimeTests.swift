// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Typed times of a recording") struct TypedTimeTests {
  /// Returns the time since the beginning of the recording for a typed text; `nil` if the recording does not contain
  /// it. The recording begins at 12:02:49.
  private func position(
    _ text: String, at position: Double = 41, of length: Double = 102
  ) -> Duration? {
    TypedTime(text)?.position(in: ReplayBarTests.status(position, of: length), hello: Scene.hello)
  }

  @Test(
    "JT-1: seconds, minutes and seconds, and times with units count from the beginning",
    arguments: [
      ("90", 90), ("0", 0), ("1:30", 90), ("1:02:03", 3_723), ("90s", 90), ("1m30s", 90),
      ("1h", 3_600), ("1h 2m 3s", 3_723), ("1d", 86_400), ("1d2h", 93_600), ("2.5", 2.5),
      ("1:30.5", 90.5), ("500ms", 0.5), ("1.5m", 90), (" 90 ", 90), ("90:00", 5_400), ("1M", 60),
    ] as [(String, Double)])
  func positions(text: String, seconds: Double) {
    #expect(position(text, of: 100_000) == .seconds(seconds))
  }

  @Test(
    "JT-5: other texts are no times",
    arguments: [
      "", " ", "x", "1:", ":30", "1:60", "1:60:00", "1:2:3:4", "1x", "1s1m", "m", "1h1h", "--1",
      "+", "-", "%", "1%%", "1e5", "0x10", "nan", "inf", "1.2.3", ".", ".5", "1:.5", "１", "1.5:30",
      "9999999999999999999999", String(repeating: "9", count: 200), "\u{1B}[2J", "+50%",
    ])
  func otherTexts(text: String) { #expect(TypedTime(text) == nil) }

  @Test("JT-2: a time with a sign counts from the shown moment")
  func changes() {
    #expect(position("+10s") == .seconds(51))
    #expect(position("-10s") == .seconds(31))
    #expect(position("+1:00") == .seconds(101))
    #expect(position("-41") == .zero)
    #expect(position("-42") == nil && position("+62") == nil)
  }

  @Test("JT-3: a percentage is a share of the recording")
  func shares() {
    #expect(position("50%") == .seconds(51))
    #expect(position("0%") == .zero && position("100%") == .seconds(102))
    #expect(position("12.5%") == .seconds(12.75))
    #expect(position("101%") == nil)
  }

  @Test("JT-4: a time of day is the next moment with this time")
  func timesOfDay() {
    #expect(position("12:03:00") == .seconds(11))
    #expect(position("12:02:49") == .zero)
    #expect(position("12:04:31") == .seconds(102))
    #expect(position("12:02:48") == nil && position("12:04:32") == nil)
    #expect(position("25:00:00") == nil)
    let day = 86_400.0
    #expect(position("12:03:00", at: 41, of: 10) == nil)
    // In a long recording, three parts are a time since the beginning if there is such a time.
    #expect(position("12:03:00", at: 41, of: day) == .seconds(12 * 3_600 + 3 * 60))
    #expect(position("23:59:59", at: 41, of: day - 10) == .seconds(43_030))
  }

  @Test("JT-4: the first second of a recording may begin before the recording")
  func firstSecond() {
    var status = ReplayBarTests.status(0)
    status.time = Scene.seconds(0.6)
    #expect(TypedTime("12:02:49")?.position(in: status, hello: Scene.hello) == .zero)
    #expect(TypedTime("12:02:48")?.position(in: status, hello: Scene.hello) == nil)
    #expect(TypedTime("12:02:50")?.position(in: status, hello: nil) == nil)
  }

  // MARK: The prompt

  private func prompt(_ text: String, columns: Int = 80) -> Dashboard {
    var dashboard = ReplayBarTests.dashboard(columns: columns)
    dashboard.press("@")
    dashboard.press(text)
    return dashboard
  }

  private func line(_ dashboard: Dashboard) -> String {
    dashboard.text()[dashboard.screen.layout?.prompt ?? 0]
  }

  @Test("JT-1: Enter goes to the typed time and closes the prompt", arguments: ["1:30", "90s"])
  func accepted(text: String) {
    var dashboard = prompt(text)
    #expect(
      line(dashboard).hasPrefix(" go to: \(text)_   01:30 at 12:04:19 · Enter go · Esc discard"))
    #expect(dashboard.press(.enter) == [.replay(.go(to: .seconds(90)))])
    #expect(dashboard.prompts.text == nil)
  }

  @Test("JT-5: an empty prompt names the range and examples, and stays open")
  func empty() {
    var dashboard = prompt("")
    #expect(line(dashboard) == " go to: _   00:00 to 01:42, for example 1:30, 90s, +10s or 50%")
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.prompts.text != nil)
    dashboard.press(.escape)
    #expect(dashboard.prompts.text == nil)
  }

  @Test(
    "JT-5: a text that is not a time of the recording keeps the prompt open, with the range",
    arguments: [
      ("soon", "type a time from 00:00 to 01:42"),
      ("1:43", "the recording covers 00:00 to 01:42"),
      ("-10m", "the recording covers 00:00 to 01:42"),
      ("14:05:09", "the recording covers 12:02:49 to 12:04:31"),
    ])
  func refused(text: String, remark: String) {
    var dashboard = prompt(text)
    #expect(dashboard.press(.enter) == [.bell])
    #expect(line(dashboard) == " go to: \(text)_   \(remark)")
    let narrow = prompt(text, columns: 40)
    let range = remark.contains("12:") ? "12:02:49 to 12:04:31" : "00:00 to 01:42"
    #expect(line(narrow) == " go to: \(text)_   \(range)")
    for _ in text.unicodeScalars { dashboard.press(.backspace) }
    dashboard.press("10")
    #expect(dashboard.press(.enter) == [.replay(.go(to: .seconds(10)))])
  }

  @Test("JT-1: the prompt looks as stored")
  func picture() { GoldenFrame.check(prompt("1:30"), named: "replay-time") }

  @Test("JT-1: the prompt takes keys that control the replay as text, in each view")
  func keysAreText() {
    var dashboard = ReplayBarTests.dashboard()
    for view in "12345".unicodeScalars {
      dashboard.take(.input(.alt(view)))
      dashboard.press("@+1")
      #expect(dashboard.prompts.text?.text == "+1")
      #expect(dashboard.press(.enter) == [.replay(.go(to: .seconds(42)))])
    }
  }

  @Test("JT-6: the prompt exists only in a replay, and closes with it")
  func otherSources() {
    var dashboard = Scene.dashboard()
    dashboard.press("@")
    #expect(dashboard.prompts.text == nil)
    dashboard = prompt("1")
    dashboard.take(.replay(nil))
    #expect(dashboard.prompts.text == nil)
  }
}
