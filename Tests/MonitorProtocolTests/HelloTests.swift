// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite struct HelloTests {
  private func hello(ticks: UInt64, started: Int64 = 1) -> Hello {
    var hello = Hello(
      processName: "service", processID: 7, isReadOnly: false,
      anchor: MonitorTime(nanoseconds: 1), anchorSecondsSince1970: 0,
      processStarted: MonitorTime(nanoseconds: started))
    hello.bootID = "boot"
    hello.startTicks = ticks
    return hello
  }

  @Test func aProcessIsRecognizedByItsIDAndStartTicks() {
    let first = hello(ticks: 5)
    #expect(first.isSameProcess(as: hello(ticks: 5, started: -3_600)))
    #expect(!first.isSameProcess(as: hello(ticks: 6)))
    var other = first
    other.processID = 8
    #expect(!first.isSameProcess(as: other))
    var elsewhere = first
    elsewhere.bootID = "another"
    #expect(!first.isSameProcess(as: elsewhere))
  }

  @Test func withoutStartTicksTheStartTimeIsCompared() {
    #expect(hello(ticks: 0).isSameProcess(as: hello(ticks: 5)))
    #expect(hello(ticks: 5).isSameProcess(as: hello(ticks: 0)))
    #expect(!hello(ticks: 0).isSameProcess(as: hello(ticks: 0, started: 2)))
  }
}
