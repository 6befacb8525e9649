// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import Testing

@testable import OperationsCore

@Suite("QueueMonitor, without threads")
struct QueueMonitorTests {
  @Test(
    "The record of an operation that has left its queue does not refer to it",
    arguments: [false, true], [false, true])
  func newsAfterTheEnd(isPinned: Bool, isRecordedFromTheStart: Bool) {
    let bench = SchedulerBench()
    if isRecordedFromTheStart {
      bench.scheduler.monitor.keepRecords(for: CollectorID(), first: nil) {}
    }
    let operation = SchedulerBench.operation("one")
    if isRecordedFromTheStart {
      operation.record = OperationRecord(
        RecordedOperation(describing: operation, queue: QueueID.next()), needsDescription: false)
    }
    bench.add([operation])
    #expect(bench.takeNext() === operation)
    #expect(operation.update { $0.descriptionDidChange() }, "on its way to the inbox")
    #expect(!isPinned || operation.update { $0.pin() })
    bench.finish(operation)
    #expect(operation.place.stage == .lingering)
    if !isRecordedFromTheStart {
      bench.scheduler.monitor.keepRecords(for: CollectorID(), first: nil) {}
    }
    bench.takeIn([operation])
    #expect(operation.place.stage == (isPinned ? .lingering : .gone))
    #expect((operation.record != nil) == isRecordedFromTheStart)
    #expect(operation.record?.operation == nil)
    bench.change(operation) { isPinned ? $0.unpin() : false }
    #expect(operation.place.stage == .gone && operation.record?.operation == nil)
    bench.endSection()
  }
}
