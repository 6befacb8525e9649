// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsTelemetry

@Suite struct LastReadingTests {
  private func answer(to step: LastReading.Step) -> Update {
    var update = Update(time: MonitorTime(nanoseconds: 1))
    if case .watch(let interest) = step, !interest.subjects.isEmpty {
      update.dependents = Dependents(subjects: interest.subjects)
    }
    return update
  }

  @Test func theLastReadingEndsWithTheSecondAnswer() {
    var reading = LastReading(after: Interest())
    let first = reading.begin()
    let second = reading.take(answer(to: first))
    #expect(first != .wait && second != .wait && first != second)
    // A second answer to the first request does not end the last reading. Only the answer to the
    // second request does.
    #expect(reading.take(answer(to: first)) == .wait)
    #expect(reading.take(answer(to: .wait)) == .wait)
    #expect(reading.take(answer(to: second)) == .end)
  }

  @Test func aReadingThatHasNotBegunDoesNotEnd() {
    var reading = LastReading(after: Interest())
    #expect(reading.take(answer(to: .wait)) == .wait)
  }

  @Test func aReadingBeginsOnce() {
    var reading = LastReading(after: Interest())
    #expect(reading.begin() != .wait)
    #expect(reading.begin() == .wait)
  }
}
