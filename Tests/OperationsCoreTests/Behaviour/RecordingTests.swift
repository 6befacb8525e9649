// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport
import Testing

@testable import OperationsCore

@Suite("Recording for a collector")
struct RecordingTests {
  /// Records the changes of one queue while `body` runs, independently of other collectors in the
  /// process.
  private func recording(
    _ queue: OperationQueue,
    _ body: @escaping @Sendable (CollectorID, Monitored<Int>) -> Void
  ) async throws {
    try await onOwnThread {
      let wakes = Monitored(0)
      keepingRecords(of: [queue], wake: { wakes.change { $0 += 1 } }) {
        body($0, wakes)
      }
    }
  }

  @Test("Earlier and later operations are described, and each change is reported once")
  func descriptions() async throws {
    let queue = OperationQueue(unlistedNamed: "test")
    queue.isSuspended = true
    queue.name = "recorded"
    let before = BlockOperation {}
    before.name = "before"
    queue.addOperation(before)
    try await recording(queue) { collector, _ in
      let after = PlainSubclass()
      after.name = "after"
      after.addDependency(before)
      after.queuePriority = .high
      queue.addOperation(after)
      let first = queue.takeChanges(for: collector, limit: 100)
      #expect(first.id == queue.id && first.name == "recorded" && first.isSuspended)
      #expect(
        first.counts.total == 2 && first.counts.ready == 1 && first.counts.waiting == 1
          && !first.hasMore)
      let byID = Dictionary(uniqueKeysWithValues: first.changed.map { ($0.id, $0) })
      #expect(byID[before.id]?.name == "before" && byID[before.id]?.state == .ready)
      #expect(byID[before.id]?.added == nil, "there was no collector then")
      #expect(byID[after.id]?.name == "after" && byID[after.id]?.state == .waiting)
      #expect(byID[after.id]?.dependencies == [before.id])
      #expect(byID[after.id]?.priority == .high && byID[after.id]?.added != nil)
      #expect(byID[after.id]?.type == PlainSubclass.self)
      #expect(queue.takeChanges(for: collector, limit: 100).changed.isEmpty)

      after.name = "renamed"
      #expect(
        queue.takeChanges(for: collector, limit: 100).changed.map(\.name) == ["renamed"])

      after.cancel()
      let cancelled = queue.takeChanges(for: collector, limit: 100)
      #expect(cancelled.counts.cancelling == 1)
      #expect(cancelled.changed.map(\.isCancelled) == [true])
      #expect(cancelled.changed.allSatisfy { $0.cancelRequested != nil })

      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      let last = queue.takeChanges(for: collector, limit: 100)
      #expect(last.counts.finished == 1 && last.counts.cancelled == 1 && last.counts.total == 2)
      #expect(Set(last.changed.map(\.id)) == [before.id, after.id])
      #expect(last.changed.allSatisfy { $0.state == .finished && $0.finished != nil })
    }
  }

  @Test("Changed operations are returned in parts of the given size")
  func limit() async throws {
    let queue = OperationQueue(unlistedNamed: "test")
    queue.isSuspended = true
    try await recording(queue) { collector, _ in
      for _ in 0..<25 { queue.addOperation {} }
      var seen: Set<OperationID> = []
      for expected in [10, 10, 5] {
        let part = queue.takeChanges(for: collector, limit: 10)
        #expect(part.changed.count == expected && part.hasMore == (expected == 10))
        seen.formUnion(part.changed.map(\.id))
      }
      #expect(seen.count == 25)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("The collector is woken once for all changes since its last reading")
  func wakes() async throws {
    let queue = OperationQueue(unlistedNamed: "test")
    try await recording(queue) { collector, wakes in
      _ = queue.takeChanges(for: collector, limit: 100)
      let before = wakes.value
      queue.isSuspended = true
      wakes.wait(for: "a wake") { $0 > before }
      _ = queue.takeChanges(for: collector, limit: 100)
      queue.addOperation {}
      #expect(queue.takeChanges(for: collector, limit: 100).changed.count == 1)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-7: a thread that adds to a suspended queue does not wake the collector itself")
  func wakeWhileAdding() async throws {
    let queue = OperationQueue(unlistedNamed: "test")
    queue.isSuspended = true
    try await onOwnThread {
      let adder = csystem_thread_id()
      let isAdding = Flag()
      let wakers = EventLog<Int32>()
      let wake: @Sendable () -> Void = {
        if isAdding.isRaised { wakers.note(csystem_thread_id()) }
      }
      keepingRecords(of: [queue], wake: wake) { collector in
        _ = queue.takeChanges(for: collector, limit: 10)
        isAdding.raise()
        // The adding thread reads the inbox after 1,024 additions, which is a change for the collector.
        for _ in 0..<2_048 { queue.addOperation {} }
        wakers.wait(forCount: 1)
        #expect(!wakers.events.contains(adder))
      }
      queue.cancelAllOperations()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Counts are exact without any recording")
  func countsWithoutRecording() async throws {
    try await onOwnThread {
      let queue = OperationQueue(unlistedNamed: "test")
      let operations = (0..<10).map { _ in BlockOperation {} }
      operations[3].cancel()
      queue.addOperations(operations, waitUntilFinished: true)
      let snapshot = queue.takeChanges(for: CollectorID(), limit: 10)
      #expect(
        snapshot.counts.total == 10 && snapshot.counts.finished == 9
          && snapshot.counts.cancelled == 1)
      #expect(snapshot.changed.isEmpty)
    }
  }

  @Test("A name that is set while the collector reads the old one is reported too")
  func renamingRacesTaking() async throws {
    let queue = OperationQueue(unlistedNamed: "test")
    try await recording(queue) { collector, _ in
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      let last = Monitored<String?>(nil)
      let take: @Sendable () -> Void = {
        for one in queue.takeChanges(for: collector, limit: 8).changed {
          last.change { $0 = one.name }
        }
      }
      for round in 0..<1_000 {
        let isNamed = Flag()
        onThreads(2) { thread in
          if thread == 0 {
            for step in 0..<20 { operation.name = "\(round).\(step)" }
            isNamed.raise()
          } else {
            while !isNamed.isRaised { take() }
          }
        }
        take()
        #expect(last.value == "\(round).19")
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("While names change and operations finish, each final state is reported")
  func losslessUnderLoad() async throws {
    let queue = OperationQueue(unlistedNamed: "test")
    try await recording(queue) { collector, _ in
      let operations = (0..<2_000).map { _ in BlockOperation {} }
      let isDone = Flag()
      let last = Monitored<[OperationID: RecordedOperation]>([:])
      let take: @Sendable () -> Bool = {
        let snapshot = queue.takeChanges(for: collector, limit: 64)
        last.change { all in for one in snapshot.changed { all[one.id] = one } }
        return snapshot.hasMore
      }
      onThreads(2) { thread in
        if thread == 0 {
          for operation in operations {
            queue.addOperation(operation)
            operation.name = "named \(operation.id)"
          }
          queue.waitUntilAllOperationsAreFinished()
          isDone.raise()
        } else {
          while !isDone.isRaised { _ = take() }
        }
      }
      while take() {}
      #expect(last.value.count == operations.count)
      #expect(last.value.values.allSatisfy { $0.state == .finished && $0.started != nil })
      let snapshot = queue.takeChanges(for: collector, limit: 1)
      #expect(
        snapshot.counts.total == operations.count && snapshot.counts.finished == operations.count)
    }
  }
}
