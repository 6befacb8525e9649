// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

private func moment(_ nanoseconds: Int64) -> MonitorTime { MonitorTime(nanoseconds: nanoseconds) }

private func report(
  _ state: OperationState, added: Int64? = nil, ready: Int64? = nil, started: Int64? = nil,
  cancelled: Int64? = nil, finished: Int64? = nil
) -> OperationReport {
  OperationReport(
    id: OperationReport.ID(7), name: "seven", className: "Block", queue: QueueReport.ID(1),
    state: state, added: added.map(moment), becameReady: ready.map(moment),
    started: started.map(moment), cancelRequested: cancelled.map(moment),
    finished: finished.map(moment))
}

@Suite("Steps between two readings")
struct OperationStepsTests {
  private func steps(_ old: OperationReport?, _ new: OperationReport) -> [String] {
    OperationSteps(from: old, to: new, at: moment(1_000)).steps.map {
      "\($0.time.nanoseconds) \($0.old?.rawValue ?? "-") \($0.new.rawValue)"
    }
  }

  @Test func aWholeLifeBetweenTwoReadingsHasAllItsSteps() {
    let whole = report(.finished, added: 1, ready: 3, started: 5, finished: 9)
    #expect(
      steps(nil, whole) == [
        "1 - waiting", "3 waiting ready", "5 ready executing", "9 executing finished",
      ])
  }

  @Test func eachStepIsReportedOnceForAllCombinationsOfReadings() {
    let lives = [
      report(.waiting, added: 1),
      report(.ready, added: 1, ready: 3),
      report(.executing, added: 1, ready: 3, started: 5),
      report(.cancelling, added: 1, ready: 3, started: 5, cancelled: 7),
      report(.cancelled, added: 1, ready: 3, started: 5, cancelled: 7, finished: 9),
    ]
    let whole = steps(nil, lives[4])
    #expect(whole.count == 5)
    // The operation has five successive reports, and the collector may have read any combination of
    // the first four. Every combination must have the same steps.
    for mask in 0..<16 {
      var reported: [String] = []
      var last: OperationReport?
      for (index, life) in lives.enumerated() where index == 4 || mask >> index & 1 == 1 {
        reported += steps(last, life)
        last = life
      }
      #expect(reported == whole, "readings \(mask)")
    }
  }

  @Test("An operation does not start before the recorded finish of a dependency")
  func stepsComeAfterTheDependencies() {
    func ordered(_ finishes: [Int64], _ new: OperationReport) -> [Int64] {
      var steps = OperationSteps(from: nil, to: new, at: moment(1_000))
      steps.order(
        after: finishes.map { report(.finished, finished: $0) } + [report(.executing, started: 1)],
        before: [])
      return steps.steps.map(\.time.nanoseconds)
    }
    let whole = report(.finished, added: 1, ready: 3, started: 5, finished: 9)
    #expect(ordered([], whole) == [1, 3, 5, 9])
    #expect(ordered([2], whole) == [1, 3, 5, 9])
    #expect(ordered([2, 4], whole) == [1, 5, 5, 9])
    #expect(ordered([7], whole) == [1, 8, 8, 9])
    #expect(ordered([12], whole) == [1, 13, 13, 13])
    // The dependency was added after the start, because it finished much later.
    #expect(ordered([1_000_000_000], whole) == [1, 3, 5, 9])
  }

  @Test("An operation finishes before its dependents become ready")
  func theFinishComesBeforeTheDependents() {
    func finish(_ dependents: [OperationReport]) -> Int64? {
      var steps = OperationSteps(
        from: nil, to: report(.finished, started: 5, finished: 90), at: moment(1_000))
      steps.order(after: [], before: dependents)
      return steps.steps.last?.time.nanoseconds
    }
    #expect(finish([]) == 90)
    #expect(finish([report(.waiting, added: 3)]) == 90)
    #expect(finish([report(.ready, ready: 95)]) == 90)
    #expect(finish([report(.ready, ready: 80), report(.executing, started: 70)]) == 69)
    #expect(finish([report(.ready, ready: 3)]) == 5)
    // A cancelled operation becomes ready without its dependencies.
    #expect(finish([report(.cancelled, ready: 80, cancelled: 80, finished: 81)]) == 90)
  }

  @Test func anOperationThatIsReadyWhenAddedHasOneStep() {
    #expect(steps(nil, report(.ready, added: 1, ready: 1)) == ["1 - ready"])
    #expect(steps(nil, report(.held, added: 1, ready: 1)) == ["1 - held"])
  }

  @Test func aCancelledWaitingOperationIsCancellingUntilItEnds() {
    let waiting = report(.waiting, added: 1)
    let over = report(.cancelled, added: 1, ready: 4, cancelled: 4, finished: 6)
    #expect(steps(waiting, over) == ["4 waiting cancelling", "6 cancelling cancelled"])
    // If an operation became ready because its cancellation was requested, this is only one step.
    #expect(steps(waiting, report(.cancelling, added: 1, ready: 5, cancelled: 4)).count == 1)
  }

  @Test func stateChangesBeforeWatchingAreNotSteps() {
    #expect(steps(nil, report(.executing)).isEmpty)
    #expect(steps(report(.executing), report(.finished, finished: 9)) == ["9 executing finished"])
    #expect(steps(nil, report(.finished, started: 5, finished: 9)).first == "5 - executing")
  }

  @Test func aStepBackHasTheTimeOfTheReading() {
    let old = report(.ready, added: 1, ready: 3)
    #expect(steps(old, report(.waiting, added: 1)) == ["1000 ready waiting"])
  }

  @Test func suspendingAQueueIsNoStepOfItsOperations() {
    let ready = report(.ready, added: 1, ready: 3)
    let held = report(.held, added: 1, ready: 3)
    #expect(steps(ready, held).isEmpty)
    #expect(steps(held, ready).isEmpty)
    #expect(
      steps(held, report(.executing, added: 1, ready: 3, started: 5)) == ["5 held executing"])
  }

  @Test func anotherNameOrPriorityIsNoStep() {
    let old = report(.executing, added: 1, ready: 3, started: 5)
    var new = old
    new.name = "other"
    #expect(steps(old, new).isEmpty)
    #expect(steps(old, old).isEmpty)
  }
}
