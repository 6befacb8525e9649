// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite struct SilenceTests {
  private func moment(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1_000_000_000))
  }

  @Test("A process that sends messages now and then is never asked")
  func heard() {
    var silence = Silence(at: moment(0))
    for second in 1...10 {
      #expect(silence.hear(at: moment(Double(second) - 0.1)) == [])
      #expect(silence.look(at: moment(Double(second))) == [])
      #expect(silence.nextLook == moment(Double(second) + 0.9))
      #expect(silence.look(at: moment(Double(second) + 0.8)) == [])
    }
  }

  @Test("A process that sends nothing for a second is asked, and is not silent if the answer comes")
  func answers() {
    var silence = Silence(at: moment(0))
    #expect(silence.nextLook == moment(1))
    #expect(silence.look(at: moment(1)) == [.ping])
    #expect(silence.hear(at: moment(1.5)) == [])
    #expect(silence.look(at: moment(2)) == [])
    #expect(silence.look(at: silence.nextLook) == [.ping])
  }

  @Test("A process that does not answer is silent, second by second, until a message comes")
  func silent() {
    var silence = Silence(at: moment(0))
    #expect(silence.look(at: moment(1)) == [.ping])
    #expect(silence.look(at: moment(2)) == [.post(.silent(for: .seconds(2)))])
    #expect(silence.look(at: moment(3)) == [.post(.silent(for: .seconds(3)))])
    #expect(silence.nextLook == moment(4))
    #expect(silence.hear(at: moment(3.5)) == [.post(.silent(for: .zero))])
    #expect(silence.hear(at: moment(3.6)) == [])
    // After an answer of the process, the time until the next ping is counted from this answer.
    #expect(silence.look(at: moment(4)) == [])
    #expect(silence.look(at: moment(4.6)) == [.ping])
  }

  @Test("A viewer that was itself stopped first reads the messages that have come meanwhile")
  func stoppedViewer() {
    var silence = Silence(at: moment(0))
    #expect(silence.look(at: moment(1)) == [.ping])
    #expect(silence.look(at: moment(60)) == [])
    var heard = silence
    #expect(heard.hear(at: moment(60.1)) == [])
    #expect(heard.look(at: silence.nextLook) == [])
    #expect(silence.look(at: silence.nextLook) == [.post(.silent(for: .seconds(61)))])
  }

  @Test("If every check comes late, every second check counts")
  func lateLooks() {
    var silence = Silence(at: moment(0))
    let actions = (0..<6).map { _ in
      silence.look(at: silence.nextLook + .seconds(1))
    }
    #expect(
      actions == [
        [], [.ping], [], [.post(.silent(for: .seconds(8)))], [],
        [.post(.silent(for: .seconds(12)))],
      ])
  }
}
