// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The refresh rate")
struct RefreshTests {
  private static let steps: [(Duration, String)] = [
    (.nanoseconds(33_333_333), "30/s"), (.milliseconds(100), "10/s"), (.milliseconds(250), "4/s"),
    (.milliseconds(500), "2/s"), (.seconds(1), "1/s"), (.seconds(2), "every 2s"),
    (.seconds(5), "every 5s"), (.seconds(10), "every 10s"),
  ]

  @Test("5.4: 30 frames per second are the default and the maximum; brackets change the rate")
  func bracketsGoThroughTheSteps() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.refreshInterval == Self.steps[0].0)
    #expect(dashboard.text()[0].contains("LIVE  up"))
    for (interval, words) in Self.steps.dropFirst() {
      #expect(dashboard.press("[") == [])
      #expect(dashboard.refreshInterval == interval)
      #expect(dashboard.text()[0].contains("LIVE \(words)  up"))
      #expect(dashboard.text().shows("refresh \(words); keys act at once"))
    }
    #expect(dashboard.press("[") == [.bell])
    #expect(dashboard.text().shows("refresh every 10s is the slowest rate"))
    for (interval, _) in Self.steps.dropLast().reversed() {
      #expect(dashboard.press("]") == [])
      #expect(dashboard.refreshInterval == interval)
    }
    #expect(dashboard.text()[0].contains("LIVE  up"))
    #expect(dashboard.press("]") == [.bell])
    #expect(dashboard.text().shows("refresh 30/s is the fastest rate"))
  }

  @Test func agesAreRedrawnAtMostAtTheRefreshRate() {
    var dashboard = Scene.dashboard()
    dashboard.press("[[[[[[[")
    dashboard.take(.tick(Scene.now + .seconds(5)))
    let now = dashboard.now
    #expect(dashboard.screen.notice == nil)
    #expect(dashboard.nextTick(after: now) == now + .seconds(10))
    dashboard.press("]]]]]]]")
    dashboard.take(.tick(now + .seconds(5)))
    #expect(dashboard.nextTick(after: dashboard.now) == dashboard.now + .seconds(1))
  }

  @Test func noticesAndTypedNumbersDoNotWaitForTheRefresh() {
    var dashboard = Scene.dashboard()
    dashboard.press("[[[[[[[")
    // A notice disappears after 5 s, and a typed number takes effect after 1 s, although the
    // refresh rate is lower.
    #expect(dashboard.nextTick(after: Scene.now) == Scene.now + .seconds(5))
    dashboard.press("1181")
    #expect(dashboard.nextTick(after: Scene.now) == Scene.now + .seconds(1))
  }

  @Test("The header omits parts that have no room", arguments: 40...82)
  func theHeaderFits(columns: Int) {
    var dashboard = Scene.dashboard(
      columns: columns, rows: 10,
      configuration: .init(title: "漢字漢字漢字漢字漢字", isReadOnly: true))
    var hello = Scene.hello
    hello.processID = 4_194_304
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    dashboard.press("[[[[[[[")
    GoldenFrame.checkCells(of: dashboard.picture())
    let clock = dashboard.text()[0].split(separator: " ").last ?? ""
    // The header shows the complete time of day, or leaves it out if there is not enough space.
    #expect(clock == "12:04:31" || !clock.contains(":"))
  }
}
