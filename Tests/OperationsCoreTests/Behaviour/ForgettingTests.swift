// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Forgetting dependencies")
struct ForgettingTests {
  @Test("DE-15: an endless chain retains only the unfinished operations and one more")
  func endlessChain() async throws {
    try await onOwnThread {
      let aliveCount = Monitored(0)
      let queue = OperationQueue()
      var newest: Operation?
      for _ in 0..<100 {
        aliveCount.change { $0 += 1 }
        let next = PlainSubclass(atDeinit: { aliveCount.change { $0 -= 1 } })
        next.releasesDependenciesWhenFinished = true
        if let newest { next.addDependency(newest) }
        queue.addOperation(next)
        newest = next
      }
      newest?.waitUntilFinished()
      aliveCount.wait(for: "all but the newest to be released") { $0 == 1 }
      #expect(newest?.dependencies.isEmpty == true)
    }
  }

  @Test("DE-15: all dependencies are forgotten, in block operations too", arguments: [1, 2, 3, 20])
  func many(count: Int) async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = BlockOperation {}
      operation.releasesDependenciesWhenFinished = true
      for _ in 0..<count {
        let dependency = PlainSubclass(atDeinit: { log.note("released") })
        operation.addDependency(dependency)
        dependency.start()
      }
      #expect(operation.dependencies.count == count)
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      log.wait(forCount: count)
      #expect(operation.dependencies.isEmpty)
    }
  }

  @Test("DE-2: dependencies are forgotten only on request, which may come late")
  func late() {
    let dependency = Operation()
    let operation = Operation()
    operation.addDependency(dependency)
    operation.releasesDependenciesWhenFinished = true
    operation.releasesDependenciesWhenFinished = false
    dependency.start()
    operation.start()
    #expect(!operation.releasesDependenciesWhenFinished && operation.dependencies == [dependency])
    operation.releasesDependenciesWhenFinished = true
    #expect(operation.releasesDependenciesWhenFinished && operation.dependencies.isEmpty)
  }

  @Test("CA-4, DE-15: a cancelled operation also forgets unfinished dependencies")
  func cancelled() {
    let dependency = Operation()
    let operation = Operation()
    operation.releasesDependenciesWhenFinished = true
    operation.addDependency(dependency)
    operation.cancel()
    #expect(operation.dependencies == [dependency])
    operation.start()
    #expect(operation.dependencies.isEmpty)
    dependency.start()
    #expect(operation.isFinished && operation.isReady)
  }

  @Test("DE-8, DE-15: a cycle that is broken by cancelling is released")
  func cycle() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let queue = OperationQueue()
      do {
        let operations = (0..<3).map { _ in PlainSubclass(atDeinit: { log.note("released") }) }
        for index in 0..<3 {
          operations[index].releasesDependenciesWhenFinished = true
          operations[index].addDependency(operations[(index + 1) % 3])
        }
        queue.addOperations(operations, waitUntilFinished: false)
        operations[0].cancel()
      }
      queue.waitUntilAllOperationsAreFinished()
      log.wait(forCount: 3)
    }
  }

  // This test is a short form of a longer one: `.ci/run` runs the same program in an optimized
  // build with 10,000,000 operations, each dependent on the previous one.
  @Test("DE-15: an endless chain runs under a memory limit")
  func memoryLimit() async throws {
    let count = Effort.scaled(50_000)
    let run = try await onOwnThread {
      try FixtureProgram.shared.run("endless-chain", "\(count)")
    }
    #expect(run.output.hasPrefix("\(count) links, at most "))
    #expect(run.ending == .status(0), "\(run.output)")
  }

  // This test is a short form of a longer one too, with a random graph of 10,000,000 operations.
  @Test(
    "DE-14, DE-15: a random graph is built, run and released under a memory limit",
    arguments: ["release", "run"])
  func memoryLimitOfGraph(use: String) async throws {
    let count = max(50_000, Effort.scaled(200_000))
    let run = try await onOwnThread {
      try FixtureProgram.shared.run("random-graph", "\(count)", use)
    }
    #expect(run.output.hasPrefix("\(count) operations, \(use == "run" ? count : 0) have run, "))
    #expect(run.ending == .status(0), "\(run.output)")
  }
}
