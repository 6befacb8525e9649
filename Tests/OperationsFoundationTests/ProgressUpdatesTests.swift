// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsFoundation

@Suite("Changes of a progress, applied by one thread at a time")
struct ProgressUpdatesTests {
  private typealias Step = ProgressUpdates.Step
  private typealias Counts = ProgressUpdates.Counts

  @Test("The thread with the first change also applies the changes that arrive meanwhile")
  func oneApplies() {
    var updates = ProgressUpdates()
    #expect(updates.counts == nil)
    var mustApply = updates.add(Step(finished: 1), to: Counts(total: 9, completed: 4))
    #expect(mustApply)
    #expect(updates.counts == Counts(total: 9, completed: 5))
    var step = updates.takeStep()
    #expect(step == Step(finished: 1))
    for count: Int64 in [2, 1] {
      mustApply = updates.add(Step(finished: count), to: Counts(total: 0, completed: 0))
      #expect(!mustApply)
    }
    #expect(updates.counts == Counts(total: 9, completed: 8), "reported before")
    step = updates.takeStep()
    #expect(step == Step(finished: 3))
    step = updates.takeStep()
    #expect(step == nil && updates.counts == nil)
    mustApply = updates.add(Step(finished: 1), to: Counts(total: 9, completed: 8))
    #expect(mustApply)
  }

  @Test("A count that is set replaces what finished before it, and not what finishes after it")
  func setCount() {
    var updates = ProgressUpdates()
    _ = updates.add(Step(finished: 3), to: Counts(total: 9, completed: 4))
    _ = updates.add(Step(completed: 0), to: Counts(total: 0, completed: 0))
    _ = updates.add(Step(finished: 1), to: Counts(total: 0, completed: 0))
    #expect(updates.counts == Counts(total: 9, completed: 1))
    let steps = [updates.takeStep(), updates.takeStep()]
    #expect(steps == [Step(completed: 0, finished: 1), nil])
  }

  @Test("Of several totals, the last one applies")
  func setTotal() {
    var updates = ProgressUpdates()
    _ = updates.add(Step(total: 5), to: Counts(total: 0, completed: 0))
    _ = updates.add(Step(total: 7), to: Counts(total: 0, completed: 0))
    #expect(updates.counts == Counts(total: 7, completed: 0))
    let step = updates.takeStep()
    #expect(step == Step(total: 7))
  }
}
