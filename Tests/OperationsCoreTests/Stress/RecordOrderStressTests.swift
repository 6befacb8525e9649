// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("The order of records", .oneAtATime)
struct RecordOrderStressTests {
  private final class Subclass: Operation, @unchecked Sendable {}

  /// A dependency of one operation on another.
  private struct Edge: Hashable {
    let dependency: OperationID
    let dependent: OperationID
  }

  /// Adds operations with random dependencies to two queues. Adds dependencies that had already
  /// finished, for which no operation waits, to `met` before the dependent is in a queue.
  private static func produce(
    _ count: Int, into queues: [OperationQueue], met: Monitored<Set<Edge>>,
    _ random: inout SeededGenerator
  ) {
    var operations: [Operation] = []
    for _ in 0..<count {
      let operation: Operation =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Subclass()
        case 1: AsyncOperation<Void> {}
        default: BlockOperation {}
        }
      for dependency in operations.suffix(20).shuffled(using: &random).prefix(3) {
        operation.addDependency(
          dependency, requires: Bool.random(using: &random) ? .success : .completion)
        if dependency.isFinished {
          let edge = Edge(dependency: dependency.id, dependent: operation.id)
          met.change { $0.insert(edge) }
        }
      }
      operations.append(operation)
      queues.randomElement(using: &random)?.addOperation(operation)
    }
  }

  @Test("A finish is recorded before the start of each operation that waited for it")
  func finishesPrecedeStarts() async throws {
    try await onOwnThread {
      var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
      for _ in 0..<Effort.scaled(20) {
        let queues = (0..<2).map { _ in OperationQueue(unlistedNamed: "test") }
        for queue in queues {
          queue.maxConcurrentOperationCount = Int.random(in: 1...4, using: &random)
        }
        let isOver = Monitored(false)
        let met = Monitored<Set<Edge>>([])
        let reading = Monitored<[OperationID: RecordedOperation]?>(nil)
        keepingRecords(of: queues) { collector in
          startThread {
            reading.change { $0 = Self.read(queues, for: collector, met: met, until: isOver) }
          }
          Self.produce(1_000, into: queues, met: met, &random)
          for queue in queues { queue.waitUntilAllOperationsAreFinished() }
          isOver.change { $0 = true }
          reading.wait(for: "the end of the reading") { $0 != nil }
        }
        let records = reading.value ?? [:]
        #expect(records.count == 1_000)
        let metEdges = met.value
        for record in records.values {
          for dependency in record.dependencies
          where !metEdges.contains(Edge(dependency: dependency, dependent: record.id)) {
            let finished = records[dependency]?.finished ?? .max
            #expect(finished <= record.becameReady ?? 0, "\(dependency) and \(record.id)")
            #expect(finished <= record.started ?? 0, "\(dependency) and \(record.id)")
          }
        }
      }
    }
  }

  /// Reads the records of the queues until all operations have finished. Expects that an operation
  /// is never recorded as started while an operation of the same queue that it waits for is recorded
  /// as unfinished.
  private static func read(
    _ queues: [OperationQueue], for collector: CollectorID, met: Monitored<Set<Edge>>,
    until isOver: Monitored<Bool>
  ) -> [OperationID: RecordedOperation] {
    var records: [OperationID: RecordedOperation] = [:]
    var isLast = false
    while true {
      let wasLast = isLast
      isLast = isOver.value
      for queue in queues {
        var changed: [RecordedOperation] = []
        var hasMore = true
        while hasMore {
          let changes = queue.takeChanges(for: collector, limit: .max)
          changed += changes.changed
          hasMore = changes.hasMore
        }
        for record in changed { records[record.id] = record }
        let metEdges = met.value
        for record in changed where record.state == .executing || record.state == .finished {
          for dependency in record.dependencies
          where !metEdges.contains(Edge(dependency: dependency, dependent: record.id)) {
            guard let other = records[dependency], other.queue == record.queue else { continue }
            #expect(other.state == .finished, "\(dependency) and \(record.id)")
          }
        }
      }
      if wasLast { return records }
    }
  }
}
