// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct StormScheduleTests {
  @Test func theStormIsFilledInSlices() {
    var schedule = StormSchedule(blockLimit: 25, isOnce: false)
    #expect(schedule.next(unfinished: 0) == .add(0..<10))
    #expect(schedule.next(unfinished: 10_000) == .add(10..<20))
    #expect(schedule.next(unfinished: 20_000) == .add(20..<25))
    #expect(schedule.next(unfinished: 25_000) == .rest)
  }

  @Test func wholeBlocksAreReplacedWhenTheyHaveFinished() {
    var schedule = StormSchedule(blockLimit: 10, isOnce: false)
    #expect(schedule.next(unfinished: 0) == .add(0..<10))
    #expect(schedule.next(unfinished: 9_001) == .rest)
    #expect(schedule.next(unfinished: 9_000) == .add(10..<11))
    #expect(schedule.next(unfinished: 7_500) == .add(11..<13))
  }

  @Test func aOnceRunIsFilledOnceAndFinishesWhenItIsEmpty() {
    var schedule = StormSchedule(blockLimit: 12, isOnce: true)
    #expect(schedule.next(unfinished: 0) == .add(0..<10))
    // If the demo must end on its own, it adds all its blocks once, however many operations have
    // already finished.
    #expect(schedule.next(unfinished: 3) == .add(10..<12))
    #expect(schedule.next(unfinished: 1) == .rest)
    #expect(schedule.next(unfinished: 0) == .finish)
  }

  @Test func anUnfilledStormHasNotFinished() {
    var schedule = StormSchedule(blockLimit: 20, isOnce: true)
    _ = schedule.next(unfinished: 0)
    #expect(schedule.next(unfinished: 0) == .add(10..<20))
  }

  @Test func aBlockRepeats() {
    #expect(StormBlock(seed: 7, number: 3) == StormBlock(seed: 7, number: 3))
    #expect(StormBlock(seed: 7, number: 3) != StormBlock(seed: 8, number: 3))
    #expect(StormBlock(seed: 7, number: 3) != StormBlock(seed: 7, number: 4))
  }

  @Test func everyTenthHasTwoDependenciesAndEveryThousandthHasTen() {
    for number in 0..<20 {
      let block = StormBlock(seed: 7, number: number)
      for position in 0..<StormBlock.size {
        let dependencies = block.dependencies(of: position)
        let count = position == 999 ? 10 : position % 10 == 9 ? 2 : 0
        #expect(Set(dependencies).count == count && dependencies.count == count)
        #expect(dependencies.allSatisfy { position - 10..<position ~= $0 && $0 >= 0 })
      }
    }
  }

  @Test func namesCountOnFromBlockToBlockAndFitIntoAString() {
    #expect(StormBlock(seed: 7, number: 0).name(at: 0) == "job 1")
    #expect(StormBlock(seed: 7, number: 123).name(at: 455) == "job 123456")
    // Swift stores a string of up to 15 bytes without allocating memory.
    #expect(StormBlock(seed: 7, number: 9_999_999).name(at: 999).utf8.count <= 15)
  }

  @Test func eventsAreSpacedWithSomeTolerance() {
    let throttle = Throttle(interval: 100)
    #expect(throttle.next(after: 0, now: 0) == 100)
    #expect(throttle.next(after: 20_000_000, now: 0) == 20_000_100)
    // If an event is late, the time until the next event is shorter. This compensates for the
    // delay, up to a limit.
    #expect(throttle.next(after: 0, now: 5_000_000) == 100)
    #expect(throttle.next(after: 0, now: 60_000_000) == 50_000_100)
  }
}
