// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import Testing

@testable import OperationsCore

@Suite("QueueScheduler, without threads")
struct QueueSchedulerTests {
  @Test("PR-3: highest priority first, first in first out within one")
  func orderOfStart() {
    let bench = SchedulerBench()
    bench.add([
      SchedulerBench.operation("low 1", .low), SchedulerBench.operation("normal 1"),
      SchedulerBench.operation("very high 1", .veryHigh), SchedulerBench.operation("normal 2"),
      SchedulerBench.operation("high 1", .high), SchedulerBench.operation("low 2", .low),
      SchedulerBench.operation("very low 1", .veryLow),
      SchedulerBench.operation("very high 2", .veryHigh),
    ])
    #expect(
      bench.takeAll() == [
        "very high 1", "very high 2", "high 1", "normal 1", "normal 2", "low 1", "low 2",
        "very low 1",
      ])
  }

  @Test("CA-6: cancelled operations are first")
  func cancelledFirst() {
    let bench = SchedulerBench()
    let cancelled = SchedulerBench.operation("cancelled", .veryLow)
    bench.add([SchedulerBench.operation("high", .veryHigh), cancelled])
    bench.change(cancelled) { $0.cancel(isAnnounced: false).mustPush }
    #expect(bench.scheduler.counts.cancelling == 1)
    #expect(bench.takeAll() == ["cancelled", "high"])
    bench.finish(cancelled)
    #expect(bench.scheduler.counts.cancelled == 1 && bench.scheduler.counts.cancelling == 0)
  }

  @Test("PR-5: a new priority moves the operation to the tail of its level")
  func changedPriority() {
    let bench = SchedulerBench()
    let late = SchedulerBench.operation("late")
    bench.add([
      late, SchedulerBench.operation("high 1", .high), SchedulerBench.operation("high 2", .high),
    ])
    bench.change(late) { $0.setPriority(Operation.QueuePriority.high.index) }
    #expect(bench.takeAll() == ["high 1", "high 2", "late"])
  }

  @Test("MX-2: width 0 and suspension start nothing", arguments: [true, false])
  func nothingStarts(isSuspended: Bool) {
    let bench = SchedulerBench()
    if isSuspended {
      bench.scheduler.isSuspended = true
    } else {
      bench.scheduler.maxConcurrentOperationCount = 0
    }
    bench.add([SchedulerBench.operation("one")])
    #expect(bench.takeNext() == nil && !bench.scheduler.hasWork)
    #expect(bench.scheduler.publishWidth()?.width == 0)
    #expect(bench.scheduler.publishWidth() == nil, "published already")
    bench.scheduler.isSuspended = false
    bench.scheduler.maxConcurrentOperationCount = 3
    #expect(bench.scheduler.publishWidth()?.isRising == true)
    #expect(bench.takeNext()?.name == "one")
  }

  @Test("MX-1, MX-4: at most the width run, counting unfinished operations")
  func widthIsKept() {
    for width in [1, 2, 7] {
      let bench = SchedulerBench()
      bench.scheduler.maxConcurrentOperationCount = width
      bench.add((0..<10).map { SchedulerBench.operation("\($0)") })
      var running: [Operation] = []
      while let next = bench.takeNext() { running.append(next) }
      #expect(running.count == width && bench.scheduler.counts.executing == width)
      bench.finish(running[0])
      let next = bench.takeNext()
      #expect(next?.name == "\(width)" && bench.takeNext() == nil)
      bench.scheduler.maxConcurrentOperationCount = 0
      if let next { bench.finish(next) }
      #expect(bench.takeNext() == nil)
    }
  }

  @Test("DE-1: an operation waits until its last dependency is met, then joins the tail")
  func waitingAndReady() {
    let bench = SchedulerBench()
    let waiting = SchedulerBench.operation("waiting")
    waiting.update { _ = $0.dependencyWasAdded() }
    bench.add([waiting, SchedulerBench.operation("other")])
    #expect(bench.scheduler.counts.waiting == 1 && bench.scheduler.counts.ready == 1)
    bench.change(waiting) { $0.dependencyWasMet().mustPush }
    #expect(bench.scheduler.counts.waiting == 0)
    #expect(bench.takeAll() == ["other", "waiting"])
  }

  @Test("DE-17: a dependency added to a ready operation takes it out of its band")
  func readyAndWaitingAgain() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    // The scheduler has not read the change from its inbox when it chooses the operation, so it
    // must read the operation's status itself.
    #expect(operation.update { $0.dependencyWasAdded().mustPush })
    #expect(bench.takeNext() == nil)
    bench.takeIn([operation])
    #expect(bench.scheduler.counts.waiting == 1)
    bench.change(operation) { $0.dependencyWasMet().mustPush }
    #expect(bench.takeNext() === operation)
  }

  @Test("DE-18: an operation that is not ready before its start is returned, and chosen again")
  func parking() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    #expect(bench.takeNext() === operation)
    let reading = operation.status.load(ordering: .relaxed).reading
    bench.scheduler.giveBack(operation, reading: reading)
    #expect(bench.scheduler.counts.waiting == 1 && bench.takeNext() == nil)
    bench.change(operation) { $0.readinessWasRead(true, reading: $0.beginReading()).mustPush }
    #expect(bench.takeNext() === operation)
  }

  @Test("DE-18: a change to ready while the operation is returned is not lost")
  func parkingLosesNoNews() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    #expect(bench.takeNext() === operation)
    let reading = operation.status.load(ordering: .relaxed).reading
    bench.change(operation) { $0.readinessWasRead(true, reading: $0.beginReading()).mustPush }
    bench.scheduler.giveBack(operation, reading: reading)
    #expect(bench.takeNext() === operation)
  }

  @Test("K-15, D-10: an operation that finished before it was returned is not chosen again")
  func parkingTooLate() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    #expect(bench.takeNext() === operation)
    bench.finish(operation)
    bench.giveBack(operation)
    #expect(bench.scheduler.counts.finished == 1 && bench.scheduler.counts.unfinished == 0)
    let barrier = bench.addBarrier()
    #expect(operation.place.stage == .gone && bench.takeNext() === barrier)
  }

  @Test("Q-7, D-10: an operation leaves from whichever stage it finishes in")
  func retiringFromEveryStage() {
    let bench = SchedulerBench()
    let waiting = SchedulerBench.operation("waiting")
    waiting.update { _ = $0.dependencyWasAdded() }
    let ready = SchedulerBench.operation("ready")
    let executing = SchedulerBench.operation("executing", .high)
    bench.add([waiting, ready, executing])
    #expect(bench.takeNext() === executing)
    for operation in [ready, waiting, executing] { bench.finish(operation) }
    #expect(bench.scheduler.counts.finished == 3 && bench.scheduler.operations.isEmpty)
    #expect(bench.takeNext() == nil)
  }

  @Test("Q-7: an operation that finishes during its addition is counted when it arrives")
  func finishingInTheInbox() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    #expect(operation.update { $0.enqueue() })
    _ = Unmanaged.passRetained(operation)
    bench.finish(operation)
    #expect(bench.scheduler.counts.total == 0)
    bench.takeIn([operation])
    #expect(bench.scheduler.counts.finished == 1 && bench.scheduler.operations.isEmpty)
    #expect(operation.place.stage == .gone)
    bench.endSection()
  }

  @Test("Q-7: an operation that is pushed while it is retired stays until the push has arrived")
  func lingering() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    #expect(bench.takeNext() === operation)
    #expect(operation.update { $0.cancel(isAnnounced: false).mustPush })
    bench.finish(operation)
    #expect(operation.place.stage == .lingering && bench.scheduler.operations.isEmpty)
    #expect(bench.effects.released == nil, "the pusher needs the queue's reference")
    bench.takeIn([operation])
    #expect(operation.place.stage == .gone && bench.scheduler.counts.cancelled == 1)
    bench.endSection()
  }

  @Test("H-11: the last reference to such an operation with waiters is released late")
  func lingeringWithWaiters() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    #expect(bench.takeNext() === operation)
    operation.update { $0.insert(.hasWaiters) }
    #expect(operation.update { $0.cancel(isAnnounced: false).mustPush })
    operation.update { _ = $0.finish() }
    #expect(bench.scheduler.retire(operation, &bench.effects))
    #expect(bench.effects.released == nil && operation.place.stage == .lingering)
    #expect(bench.effects.runsUsersCode(after: nil), "its class may have a deinit")
    bench.discardEffects()
    bench.takeIn([operation])
    #expect(operation.place.stage == .gone)
    bench.endSection()
  }

  @Test("Q-12: a waiter for an empty queue is notified once, at the end of the section")
  func waitersForEmpty() {
    let bench = SchedulerBench()
    let unopened = Latch()
    #expect(bench.scheduler.addWaiterForEmpty(unopened) == false, "it is empty now")
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    bench.endSection()
    let latch = Latch()
    #expect(bench.scheduler.addWaiterForEmpty(latch) == true)
    bench.endSection()
    #expect(bench.effects.wakeups == nil)
    bench.finish(operation)
    #expect(bench.effects.wakeups?.waiters.count == 1)
    bench.discardEffects()
    bench.endSection()
    #expect(bench.effects.wakeups == nil)
  }

  @Test("Q-7: the queue's object is retained exactly while there are operations")
  func ownerReferences() {
    let bench = SchedulerBench()
    let operation = SchedulerBench.operation("one")
    bench.add([operation])
    #expect(!bench.scheduler.retainsNothing)
    bench.finish(operation)
    #expect(bench.scheduler.retainsNothing)
  }
}
