// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@Suite struct ListScheduleTests {
  /// The makespan in milliseconds.
  private func makespan(_ links: Links, _ milliseconds: [Int], width: Int) -> Int {
    let durations = milliseconds.map { Duration.milliseconds($0) }
    return Int(ListSchedule.makespan(links, durations: durations, width: width) / .milliseconds(1))
  }

  private let independent = Workload.flat.links(4)

  @Test(arguments: [1, 3]) func aChainTakesTheSumOfItsDurations(width: Int) {
    #expect(makespan(.chain(4), [5, 1, 2, 4], width: width) == 12)
  }

  @Test(arguments: [(1, 13), (2, 8), (3, 5), (9, 5)])
  func independentOperationsShareTheWidth(width: Int, expected: Int) {
    #expect(makespan(independent, [5, 3, 2, 3], width: width) == expected)
  }

  @Test func operationsStartInTheOrderInWhichTheyBecameReady() {
    // The longest operation is the last one, so it starts last although another order would be faster.
    #expect(makespan(independent, [2, 2, 2, 6], width: 2) == 8)
    #expect(makespan(independent, [6, 2, 2, 2], width: 2) == 6)
  }

  @Test func anOperationStartsWhenItsLastDependencyFinishes() {
    #expect(makespan(.fanIn(3), [1, 7, 3, 10], width: 3) == 17)
    #expect(makespan(.fanOut(3), [10, 1, 7, 3], width: 3) == 17)
  }

  @Test func aReadyOperationIsNotOvertakenByALaterOne() {
    // Operation 4 is ready from 2 ms and waits behind operation 3. Operation 5 is ready from 3 ms, when operation 2
    // finishes. If it started before operation 4, all would have finished after 8 ms.
    #expect(makespan(.tree(6), [1, 1, 2, 4, 1, 5], width: 2) == 9)
  }

  @Test func nothingTakesNoTime() {
    #expect(makespan(Workload.flat.links(0), [], width: 2) == 0)
  }

  @Test func theMakespanIsAtLeastTheWorkDividedByTheWidth() {
    let workflow = Workflow.montage(1_000)
    let sleeps = workflow.sleeps(seed: 1)
    let work = sleeps.reduce(.zero, +)
    #expect(ListSchedule.makespan(workflow.links, durations: sleeps, width: 1) == work)
    for width in [4, 16, 64] {
      let makespan = ListSchedule.makespan(workflow.links, durations: sleeps, width: width)
      #expect(makespan >= work / width)
      #expect(makespan < work)
    }
  }
}
