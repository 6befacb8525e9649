// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite("The store of log lines", .timeLimit(.minutes(5)), .onOwnThread)
struct OperationLogStoreTests {
  private struct AttemptError: Error {}

  private static func texts(
    of operation: Operation, in store: OperationLogStore = .shared
  ) -> [String] {
    store.lines(of: .operations([operation.id]), in: 1...UInt64.max)
      .flatMap(\.lines).map(\.text)
  }

  @Test("The lines of an operation have their level and the order in which they were added")
  func lines() throws {
    let operation = BlockOperation {}
    operation.appendLogLine("one")
    operation.appendLogLine("two", level: .warning)
    let stored = OperationLogStore.shared.lines(
      of: .operations([operation.id]), in: 1...UInt64.max)
    let log = try #require(stored.first)
    #expect(log.operation == operation.id && log.first == 0)
    #expect(log.lines.map(\.text) == ["one", "two"])
    #expect(log.lines.map(\.level) == [.info, .warning])
    #expect(log.lines[0].time <= log.lines[1].time)
  }

  @Test("The lines of an attempt are lines of the retry")
  func attempts() async throws {
    let retry = RetryOperation(maximumAttempts: 3) { number in
      AsyncOperation {
        Operation.current?.appendLogLine("attempt \(number) begins")
        await Task.yield()
        Operation.current?.appendLogLine("attempt \(number) ends")
        if number < 2 { throw AttemptError() }
      }
    }
    OperationQueue().addOperation(retry)
    try await retry.value
    #expect(
      Self.texts(of: retry) == [
        "attempt 1 begins", "attempt 1 ends", "attempt 2 begins", "attempt 2 ends",
      ])
  }

  @Test("The reader is woken once between two looks, for lines that it needs")
  func wakes() {
    let store = OperationLogStore()
    let wakeCount = Atomic(0)
    let (needed, other) = (BlockOperation {}, BlockOperation {})
    func wakes(_ body: () -> Void) -> Int {
      let before = wakeCount.load(ordering: .relaxed)
      body()
      return wakeCount.load(ordering: .relaxed) - before
    }
    store.append("before", level: .info, of: needed)
    store.wake(for: .operations([needed.id])) { wakeCount.add(1, ordering: .relaxed) }
    #expect(wakes { store.append("a", level: .info, of: other) } == 0)
    #expect(wakes { store.append("b", level: .info, of: needed) } == 1)
    #expect(wakes { store.append("c", level: .info, of: needed) } == 0)
    store.look()
    #expect(wakes { store.append("d", level: .info, of: needed) } == 1)
    // The same selection has no effect, and another one lets the next line wake the reader.
    store.wake(for: .operations([needed.id])) {}
    #expect(wakes { store.append("e", level: .info, of: needed) } == 0)
    store.wake(for: .all) { wakeCount.add(1, ordering: .relaxed) }
    #expect(wakes { store.append("f", level: .info, of: other) } == 1)
    store.wake(for: nil) {}
    store.look()
    #expect(wakes { store.append("g", level: .info, of: needed) } == 0)
  }

  @Test("Numbers and times of lines that several threads add are in the order of the lines")
  func threads() throws {
    let store = OperationLogStore()
    let operation = BlockOperation {}
    let count = Effort.scaled(20_000)
    onThreads(4) { thread in
      for number in 0..<count { store.append("\(thread) \(number)", level: .info, of: operation) }
    }
    let log = try #require(store.lines(of: .all, in: 1...UInt64.max).first)
    #expect(log.first == UInt64(4 * count - 50) && log.lines.count == 50)
    #expect(zip(log.lines, log.lines.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(log.lines.last?.sequence == UInt64(4 * count))
    #expect(store.droppedCount == UInt64(4 * count - 50))
  }

  @Test("100 MB of lines from 1,000 operations and several threads take at most 4 MiB")
  func floodInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let operations = (0..<1_000).map { _ in BlockOperation {} }
      for operation in operations { operation.appendLogLine("first") }
      let before = ProcessStatus.amount("VmRSS")
      let text = String(repeating: "x", count: 180)
      // 100 MB with an effort of 100 percent.
      let rounds = Effort.scaled(140)
      onThreads(4) { thread in
        for round in 0..<rounds {
          for (index, operation) in operations.enumerated() {
            operation.appendLogLine("\(text) \(thread) \(round) \(index)", level: .debug)
          }
          if OperationLogStore.shared.byteCount > 4 << 20 { fatalError("more than 4 MiB") }
        }
      }
      let store = OperationLogStore.shared
      #expect(store.byteCount <= 4 << 20 && store.byteCount > 3 << 20)
      let kept = store.lines(of: .all, in: 1...UInt64.max).reduce(0) { $0 + $1.lines.count }
      #expect(store.droppedCount + UInt64(kept) == store.sequence)
      #expect(store.sequence == UInt64(1_000 * (1 + 4 * rounds)))
      // The allocator keeps some freed memory for each thread.
      let growth = ProcessStatus.amount("VmRSS") - before
      #expect(growth < 16 << 10, "the process has grown by \(growth) KiB")
    }
  }
}
