// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorClient

@Suite("The end of a link's command") struct LinkCommandEndTests {
  @Test("The end is complete when both outputs and the process have ended, in any order")
  func orders() {
    let events: [(inout LinkCommandEnd) -> [LinkCommandEnd.Action]] = [
      { $0.endOutput() }, { $0.endErrors() }, { $0.exit() },
    ]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      var end = LinkCommandEnd()
      let actions = order.map { events[$0](&end) }
      #expect(actions.last == [.report], "\(order)")
      #expect(actions.dropLast().flatMap { $0 } == [.wait], "\(order)")
      #expect(end.expire() == [])
    }
  }

  @Test("A command that does not end is killed, and its end is reported even if it still exists")
  func kill() {
    var end = LinkCommandEnd()
    #expect(end.stop() == [.wait])
    #expect(end.stop() == [])
    #expect(end.expire() == [.kill, .wait])
    #expect(end.expire() == [.report])
    #expect(end.exit() == [])
  }

  @Test("A process that has ended is not killed, although another process has its output open")
  func heldOutput() {
    var end = LinkCommandEnd()
    #expect(end.exit() == [.wait])
    #expect(end.expire() == [.report])
    #expect(end.endOutput() == [])
    #expect(end.endErrors() == [])
  }
}
