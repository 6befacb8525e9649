// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCollector

@Suite struct LastingConditionTests {
  private typealias ID = OperationReport.ID

  private func moment(_ milliseconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func aLastingConditionIsDue() {
    var condition = LastingCondition(patience: .seconds(1))
    condition.insert(ID(1), at: moment(0))
    condition.insert(ID(2), at: moment(400))
    #expect(condition.nextMoment == moment(1_000))
    condition.advance(to: moment(999))
    #expect(condition.dueCount == 0 && condition.due(10).isEmpty)
    condition.advance(to: moment(1_000))
    #expect(condition.dueCount == 1 && condition.due(10).map(\.id) == [ID(1)])
    #expect(condition.due(10).map(\.since) == [moment(0)])
    #expect(condition.nextMoment == moment(1_400))
    condition.advance(to: moment(2_000))
    #expect(condition.due(10).map(\.id) == [ID(1), ID(2)] && condition.due(1).map(\.id) == [ID(1)])
    #expect(condition.nextMoment == nil)
  }

  @Test func aRemovedConditionIsNotDue() {
    var condition = LastingCondition(patience: .seconds(1))
    condition.insert(ID(1), at: moment(0))
    condition.remove(ID(1))
    condition.remove(ID(2))
    condition.advance(to: moment(5_000))
    #expect(condition.dueCount == 0 && condition.due(10).isEmpty && condition.nextMoment == nil)
  }

  @Test func aRepeatedConditionRestartsItsTimeAndALastingOneKeepsIt() {
    var condition = LastingCondition(patience: .seconds(1))
    condition.insert(ID(1), at: moment(0))
    condition.insert(ID(2), at: moment(0))
    condition.remove(ID(1))
    condition.insert(ID(1), at: moment(0))
    condition.remove(ID(1))
    condition.insert(ID(1), at: moment(900))
    condition.insert(ID(2), at: moment(900))
    condition.advance(to: moment(1_000))
    #expect(condition.due(10).map(\.id) == [ID(2)] && condition.dueCount == 1)
    #expect(condition.nextMoment == moment(1_900))
  }

  @Test("With random changes, the result is the same as if each operation were checked each time")
  func randomly() {
    var condition = LastingCondition(patience: .seconds(1))
    var generator = SeededGenerator(seed: 11)
    var expected: [ID: MonitorTime] = [:]
    for step in 0..<Effort.scaled(20_000) {
      let now = moment(Int64(step))
      let id = ID(UInt64.random(in: 0..<400, using: &generator))
      if Bool.random(using: &generator) {
        condition.insert(id, at: now)
        if expected[id] == nil { expected[id] = now }
      } else {
        condition.remove(id)
        expected[id] = nil
      }
      guard step.isMultiple(of: 50) else { continue }
      condition.advance(to: now)
      let due = expected.filter { now - $0.value >= .seconds(1) }
      #expect(condition.dueCount == due.count)
      #expect(Set(condition.due(.max).map(\.id)) == Set(due.keys))
      let next = expected.values.filter { now - $0 < .seconds(1) }.min()
      #expect(condition.nextMoment == next.map { $0 + .seconds(1) })
    }
  }
}
