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
      let waits = actions.dropLast().flatMap { $0 }
      #expect(waits == [.wait(number: 1, LinkCommandEnd.grace)], "\(order)")
      #expect(end.expire(1) == [])
    }
  }

  @Test("A command that does not end is killed, and its end is reported even if it still exists")
  func kill() {
    var end = LinkCommandEnd()
    #expect(end.stop() == [.wait(number: 1, LinkCommandEnd.grace)])
    #expect(end.stop() == [])
    #expect(end.expire(1) == [.kill, .wait(number: 2, LinkCommandEnd.grace)])
    #expect(end.expire(2) == [.report])
    #expect(end.exit() == [])
  }

  @Test("A command that is abandoned is killed earlier, even if the link already waits for its end")
  func abandonment() {
    var end = LinkCommandEnd()
    #expect(end.stop() == [.wait(number: 1, LinkCommandEnd.grace)])
    #expect(end.abandon() == [.wait(number: 2, LinkCommandEnd.shortGrace)])
    #expect(end.expire(1) == [])
    #expect(end.expire(2) == [.kill, .wait(number: 3, LinkCommandEnd.grace)])
    #expect(end.abandon() == [])
    #expect(end.exit() == [])
    #expect(end.expire(3) == [.report])
  }

  @Test("A process that has ended is not killed, even if another process has its output open")
  func heldOutput() {
    var end = LinkCommandEnd()
    #expect(end.exit() == [.wait(number: 1, LinkCommandEnd.grace)])
    #expect(end.expire(1) == [.report])
    #expect(end.endOutput() == [])
    #expect(end.endErrors() == [])
  }
}
