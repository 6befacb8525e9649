// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite("Barriers in QueueScheduler, without threads")
struct BarrierLineTests {
  @Test("BA-1, BA-3: barriers separate operations, regardless of priorities")
  func turns() {
    let bench = SchedulerBench()
    bench.add([SchedulerBench.operation("low", .veryLow), SchedulerBench.operation("normal")])
    let first = bench.addBarrier("first barrier")
    let second = bench.addBarrier("second barrier")
    bench.add([SchedulerBench.operation("late", .low)])
    bench.add([SchedulerBench.operation("late and high", .veryHigh)])
    #expect(bench.scheduler.counts.ready == 4, "Q-9: they count as ready, barriers do not count")
    let ahead = [bench.takeNext(), bench.takeNext()].compactMap { $0 }
    #expect(ahead.map(\.name) == ["normal", "low"] && bench.takeNext() == nil)
    bench.finish(ahead[1])
    #expect(bench.takeNext() == nil && !bench.scheduler.hasWork, "one is not finished")
    bench.finish(ahead[0])
    #expect(bench.scheduler.hasWork && bench.takeNext() === first)
    #expect(bench.takeNext() == nil && !bench.scheduler.hasWork, "a barrier runs alone")
    bench.finish(first)
    #expect(bench.takeNext() === second && bench.takeNext() == nil)
    bench.finish(second)
    #expect(bench.takeAll() == ["late and high", "late"])
  }

  @Test("BA-2, BA-3: a barrier needs a slot and a queue that is not suspended")
  func slot() {
    for isSuspended in [true, false] {
      let bench = SchedulerBench()
      bench.scheduler.isSuspended = isSuspended
      bench.scheduler.maxConcurrentOperationCount = isSuspended ? -1 : 0
      let barrier = bench.addBarrier()
      #expect(bench.takeNext() == nil && !bench.scheduler.hasWork)
      bench.scheduler.isSuspended = false
      bench.scheduler.maxConcurrentOperationCount = 1
      #expect(bench.scheduler.hasWork && bench.takeNext() === barrier)
    }
  }

  @Test("BA-1: while a barrier executes, no workers are requested")
  func publishedWidth() {
    let bench = SchedulerBench()
    let barrier = bench.addBarrier()
    #expect(bench.takeNext() === barrier)
    #expect(bench.scheduler.publishWidth()?.width == 0)
    bench.add([SchedulerBench.operation("late")])
    #expect(bench.scheduler.publishWidth() == nil)
    bench.finish(barrier)
    #expect(bench.scheduler.publishWidth()?.isRising == true)
  }

  @Test("Q-11: a cancelled barrier keeps its place, and is released in its turn")
  func cancelledBarrier() {
    let bench = SchedulerBench()
    let ahead = SchedulerBench.operation("ahead")
    bench.add([ahead])
    let barrier = bench.addBarrier()
    let behind = SchedulerBench.operation("behind")
    bench.add([behind])
    for operation in [behind, barrier] {
      bench.change(operation) { $0.cancel(isAnnounced: false).mustPush }
    }
    #expect(bench.scheduler.counts.cancelling == 1, "Q-9: barriers do not count")
    #expect(bench.takeAll() == ["ahead"])
    bench.finish(ahead)
    #expect(bench.takeNext() === barrier && bench.takeNext() == nil)
    bench.finish(barrier)
    #expect(barrier.place.stage == .gone && bench.takeAll() == ["behind"])
  }

  @Test("Q-7: a barrier that is cancelled while it is retired stays until that push has arrived")
  func lingeringBarrier() {
    let bench = SchedulerBench()
    let barrier = bench.addBarrier()
    #expect(bench.takeNext() === barrier)
    #expect(barrier.update { $0.cancel(isAnnounced: false).mustPush })
    bench.finish(barrier)
    #expect(barrier.place.stage == .lingering && bench.effects.released == nil)
    bench.takeIn([barrier])
    #expect(barrier.place.stage == .gone)
    bench.endSection()
  }

  @Test("Q-7, Q-12: a barrier retains the queue's object and delays waiters for the queue")
  func keepsTheQueue() {
    let bench = SchedulerBench()
    let barrier = bench.addBarrier()
    bench.endSection()
    #expect(!bench.scheduler.retainsNothing)
    #expect(bench.scheduler.addWaiterForEmpty(Latch()) == true)
    bench.endSection()
    #expect(bench.effects.wakeups == nil && bench.takeNext() === barrier)
    bench.discardEffects()
    bench.finish(barrier)
    #expect(bench.effects.wakeups?.waiters.count == 1 && bench.scheduler.retainsNothing)
  }

  @Test("DE-18: a returned operation goes to its own segment")
  func parking() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    let barrier = bench.addBarrier()
    #expect(bench.takeNext() === operation)
    bench.scheduler.giveBack(operation, reading: operation.status.load(ordering: .relaxed).reading)
    #expect(bench.takeNext() == nil, "the barrier waits for it")
    bench.change(operation) { $0.readinessWasRead(true, reading: $0.beginReading()).mustPush }
    #expect(bench.takeNext() === operation)
    bench.finish(operation)
    #expect(bench.takeNext() === barrier)
  }

  @Test("PR-5: a barrier whose priority is set while it finishes is released once, at the end")
  func priorityDuringFinish() {
    let bench = SchedulerBench()
    let barrier = bench.addBarrier()
    #expect(bench.takeNext() === barrier)
    // The scheduler's inbox (its list of changed operations) contains a change of the barrier. So
    // the thread that sets the barrier's priority pins the barrier, which prevents its release.
    let isPinned = barrier.update { $0.descriptionDidChange() && $0.pinInInbox() }
    #expect(isPinned)
    bench.finish(barrier)
    bench.takeIn([barrier])
    #expect(barrier.place.stage == .lingering && !bench.scheduler.retainsNothing)
    let mustPush = barrier.update { $0.unpin() }
    #expect(mustPush)
    bench.takeIn([barrier])
    #expect(barrier.place.stage == .gone && bench.scheduler.retainsNothing)
    bench.endSection()
  }

  @Test("BA-4: any number of barriers come and go, and segments always stay distinct")
  func manyBarriers() {
    let bench = SchedulerBench()
    for round in 0..<3 {
      for index in 0..<100 {
        bench.add([SchedulerBench.operation("\(round) \(index)")])
        bench.addBarrier("\(round) \(index)")
      }
      // Each round finishes only some of the operations. The other operations stay before the
      // operations of the next round.
      for _ in 0..<150 {
        guard let next = bench.takeNext() else { break }
        #expect(bench.takeNext() == nil)
        bench.finish(next)
      }
    }
    #expect(bench.names.first == "2 25" && bench.scheduler.allBarriers.first?.name == "2 25")
  }

  @Test("BA-4: the numbers of segments wrap around")
  func numbersWrapAround() {
    var line = BarrierLine(lastSegment: QueuePlace.Segment(rawValue: .max))
    var front = ReadyBands()
    let operations = ["ahead", "behind"].map { SchedulerBench.operation($0) }
    let barrier = SchedulerBench.operation("barrier")
    operations[0].place.segment = line.lastSegment
    line.append(.passUnretained(barrier), unfinished: 1)
    operations[1].place.segment = line.lastSegment
    #expect(line.lastSegment == QueuePlace.Segment() && line.front == .blocked)
    for operation in operations { line.append(operation, front: &front) }
    #expect(front.first?.takeUnretainedValue() === operations[0])
    line.remove(operations[0], front: &front)
    line.didLeave(operations[0])
    #expect(front.isEmpty && line.front == .due)
    #expect(line.startFirst().takeUnretainedValue() === barrier)
    #expect(line.finishFirst().first?.takeUnretainedValue() === operations[1] && line.isEmpty)
  }

  @Test("QueuePlace and QueueNeighbours have not grown: they are parts of every operation")
  func sizeOfAPlace() {
    #expect(MemoryLayout<QueuePlace>.size == 4)
    #expect(MemoryLayout<QueueNeighbours>.size == 32)
  }

  @Test("BA-1, BA-3: in random sequences, it equals a model", arguments: 0..<100 as Range)
  func againstAModel(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let bench = SchedulerBench()
    var model = SchedulerModel()
    for step in 0..<400 {
      switch Int.random(in: 0..<14, using: &random) {
      case 0, 1, 2:
        let operation = SchedulerBench.operation(
          "\(step)", Operation.QueuePriority(index: Int.random(in: 0..<5, using: &random)))
        if Bool.random(using: &random) { operation.update { _ = $0.dependencyWasAdded() } }
        bench.add([operation])
        model.add(operation, isBarrier: false)
      case 3: model.add(bench.addBarrier("barrier \(step)"), isBarrier: true)
      case 4: model.changeOne(&random, bench) { $0.cancel(isAnnounced: false).mustPush }
      case 5, 6:
        model.changeOne(&random, bench) {
          $0.unmetDependencyCount > 0 ? $0.dependencyWasMet().mustPush : false
        }
      case 7:
        let index = Int.random(in: 0..<5, using: &random)
        model.changeOne(&random, bench) { $0.setPriority(index) }
      case 8:
        bench.scheduler.isSuspended = Bool.random(using: &random)
        bench.scheduler.maxConcurrentOperationCount = Int.random(in: -1..<4, using: &random)
      case 9: model.finishOne(&random, bench, amongAll: true)
      case 10: model.parkOne(&random, bench)
      case 11:
        model.changeOne(&random, bench) {
          $0.readinessWasRead(true, reading: $0.beginReading()).mustPush
        }
      default: model.finishOne(&random, bench, amongAll: false)
      }
      let expected = model.takeNext(bench.scheduler)
      #expect(bench.takeNext() === expected, "step \(step)")
      #expect(
        bench.scheduler.allOperations == model.entries.filter { !$0.isBarrier }.map(\.operation))
      #expect(bench.scheduler.allBarriers == model.entries.filter(\.isBarrier).map(\.operation))
    }
  }
}
