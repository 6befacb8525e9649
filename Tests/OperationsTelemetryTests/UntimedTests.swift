// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsTelemetry

/// Tests of the number of operations that have finished, according to the queues' counts, but were
/// never reported with their times.
@Suite struct UntimedTests {
  @Test func countedOperationsMissingFromTheNextUpdateAreUntimed() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 10)], [operation(1)])
    #expect(shown.untimed == 0)
    // The queue has counted ten operations. The reports of operations 2 to 4 arrive one update
    // after the count, and the other six operations count as untimed.
    shown.take([queue(1, "a", finished: 10)], (2...4).map { operation($0) })
    #expect(shown.untimed == 6)
    shown.take([queue(1, "a", finished: 12)], [operation(5), operation(6)])
    #expect(shown.untimed == 6)
    #expect(shown.state.isSettled)
  }

  @Test func anUnchangedUpdateDoesNotMakeOperationsUntimed() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 2)], [operation(1)])
    shown.take([queue(1, "a", finished: 2)])
    #expect(shown.untimed == 0)
    #expect(!shown.state.isSettled)
    shown.take([queue(1, "a", finished: 2)], [operation(2)])
    shown.settle()
    #expect(shown.untimed == 0)
    #expect(shown.state.isSettled)
  }

  @Test func missingReportsAtTheEndAreUntimed() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 10)], [operation(1)])
    shown.settle()
    shown.settle()
    #expect(shown.untimed == 9)
  }

  @Test func operationsCancelledBeforeTheyStartAreNeitherTimedNorUntimed() {
    var past = TelemetryPast()
    past.end = MonitorTime(nanoseconds: 1_000_000_000)
    var shown = Shown(since: past)
    let operations = [
      operation(1, state: .cancelled, added: 1, ready: nil, started: nil, cancelRequested: 2),
      operation(2, state: .cancelled, started: 3, cancelRequested: 3),
      operation(3, state: .cancelled, started: 3, cancelRequested: 4),
      operation(4, state: .cancelled, added: 0, ready: 2, started: nil, cancelRequested: 2),
      // Operation 5 started before its changes were recorded, so its times are incomplete.
      operation(5, state: .cancelled, added: 2, started: 3),
      operation(6, state: .cancelled, added: 2, started: nil),
    ]
    let runs = shown.take([queue(1, "a", cancelled: 6)], operations)
    #expect(runs.map(\.report.id.rawValue) == [3])
    shown.settle()
    #expect(shown.untimed == 0)
  }

  @Test func cancelledOperationsThatPossiblyRanAreUntimed() {
    var past = TelemetryPast()
    past.end = MonitorTime(nanoseconds: 1_000_000_000)
    var shown = Shown(since: past)
    let operations = [
      // The recording of changes began while operation 1 waited or executed. So it is unknown
      // whether the operation ran, and it counts as untimed.
      operation(1, state: .cancelled, ready: nil, started: nil, cancelRequested: 2),
      // The recording of operation 2 began for a session that did not record the operation's start.
      // So it is unknown whether the operation ran, and it counts as untimed.
      operation(2, state: .cancelled, added: 0, ready: 0, started: nil, cancelRequested: 2),
    ]
    #expect(shown.take([queue(1, "a", cancelled: 2)], operations).isEmpty)
    shown.settle()
    #expect(shown.untimed == 2)
  }

  @Test func uncountedReportsDoNotHideMissingOperations() {
    var shown = Shown()
    shown.take([queue(1, "a"), queue(2, "b")])
    // The first queue has been deallocated. So its last counts are not in the update, but its
    // operations are still reported. These reports must not hide missing operations of the second
    // queue.
    shown.take([queue(2, "b", finished: 9)], (1...5).map { operation($0) } + [operation(6, in: 2)])
    shown.take([queue(2, "b", finished: 9), queue(3, "c", finished: 1)], [operation(7, in: 3)])
    #expect(shown.untimed == 8)
    shown.settle()
    #expect(shown.untimed == 8)
  }

  @Test func missingReportsOfARemovedQueueAreUntimedAtOnce() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 9)], (1...4).map { operation($0) })
    #expect(shown.untimed == 0)
    // The report of operation 5 arrives in the update in which its queue is removed, so this
    // operation does not count as untimed.
    shown.take([], [operation(5)])
    #expect(shown.untimed == 4)
    #expect(shown.state.isSettled)
  }

  @Test func aRunWithoutAStartTimeIsUntimed() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 1)], [operation(1, started: nil)])
    shown.settle()
    #expect(shown.untimed == 1)
  }
}
