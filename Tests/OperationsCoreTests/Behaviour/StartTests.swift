// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Starting by hand")
struct StartTests {
  @Test("SA-1, SA-9: main runs on the caller's thread, and has ended when start returns")
  func callersThread() {
    let log = EventLog<Bool>()
    let caller = pthread_self()
    let work: @Sendable (Operation) -> Void = { operation in
      log.note(pthread_equal(pthread_self(), caller) != 0 && operation.isExecuting)
    }
    let operations = [SelfUsingOperation(work: work), StartingOperation(work: work)]
    for operation in operations { operation.start() }
    #expect(log.events == [true, true] && operations.allSatisfy(\.isFinished))
  }

  @Test("OP-5: main of the base class may be called, and does nothing")
  func superMain() {
    final class Dutiful: Operation, @unchecked Sendable {
      let log = EventLog<Bool>()
      override func main() {
        super.main()
        log.note(isExecuting && !isFinished)
      }
    }
    let operation = Dutiful()
    operation.start()
    #expect(operation.log.events == [true] && operation.isFinished)
  }

  @Test("SA-2: starting a finished operation announces nothing and runs no completion block")
  func finishedAgain() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = PlainSubclass { log.note("main") }
      operation.completionBlock = { log.note("completion") }
      operation.start()
      log.wait(for: "completion")
      let changes = ChangeLog(operation)
      operation.start()
      operation.cancel()
      operation.start()
      // Completion blocks run in order, so the earlier completion blocks have run before the block
      // of this operation.
      let after = Operation()
      after.completionBlock = { log.note("after") }
      after.start()
      log.wait(for: "after")
      #expect(changes.events.isEmpty && log.events == ["main", "completion", "after"])
    }
  }

  @Test("SA-5: a start on another thread during the announcement of the first has its own message")
  func whileTheStartIsAnnounced() async throws {
    try await onOwnThread {
      let log = EventLog<OperationMisuse.Kind>()
      let runs = Monitored(0)
      let startElsewhere: @Sendable (Operation) -> Void = { operation in
        let isOver = Gate()
        startThread {
          for misuse in OperationMisuse.catching({ operation.start() }) { log.note(misuse.kind) }
          isOver.open()
        }
        isOver.pass()
      }
      let operation = ObstructedOperation(obstacle: startElsewhere) { operation in
        runs.change { $0 += 1 }
        startElsewhere(operation)
      }
      operation.start()
      #expect(log.events == [.simultaneousStart, .receiverAlreadyExecuting])
      #expect(runs.value == 1 && operation.isFinished)
    }
  }

  @Test("SA-5, OP-6: of four threads that race to start one runs it", arguments: [true, false])
  func race(isBlock: Bool) async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(500) {
        let runs = Monitored(0)
        let kinds = EventLog<OperationMisuse.Kind>()
        let work: @Sendable () -> Void = { runs.change { $0 += 1 } }
        let operation = isBlock ? BlockOperation(block: work) : PlainSubclass(work: work)
        onThreads(4) { _ in
          do throws(OperationMisuse) {
            try operation.tryStart()
          } catch {
            kinds.note(error.kind)
          }
        }
        #expect(runs.value == 1 && operation.isFinished)
        #expect(
          kinds.events.allSatisfy { [.simultaneousStart, .receiverAlreadyExecuting].contains($0) })
      }
    }
  }

  @Test("SA-8: main is a function that cannot throw")
  func mainThrowsNothing() {
    // The test passes if this code compiles.
    let main: (Operation) -> () -> Void = Operation.main
    main(Operation())()
  }

  @Test("OP-7: starting, cancelling and depending on several threads end well")
  func hammering() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      for round in 0..<Effort.scaled(1_000) {
        let runs = Monitored(0)
        let completions = Monitored(0)
        let operation = PlainSubclass { runs.change { $0 += 1 } }
        operation.completionBlock = { completions.change { $0 += 1 } }
        let dependency = Operation()
        onThreads(3) { thread in
          var random = SeededGenerator(seed: seed &+ UInt64(3 * round + thread))
          for _ in 0..<6 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: operation.cancel()
            case 1: operation.addDependency(dependency)
            case 2: operation.removeDependency(dependency)
            case 3: try? dependency.tryStart()
            case 4: operation.releasesDependenciesWhenFinished = Bool.random(using: &random)
            default: try? operation.tryStart()
            }
          }
        }
        // Whichever thread was faster, the operation now has no unmet dependencies and can be
        // finished.
        operation.removeDependency(dependency)
        operation.start()
        #expect(operation.isFinished && runs.value <= 1)
        #expect(operation.isCancelled || runs.value == 1)
        completions.wait(for: "the completion block") { $0 == 1 }
      }
    }
  }
}

/// An operation whose override of `start()` calls `super.start()`, which the documentation forbids.
private final class StartingOperation: SelfUsingOperation, @unchecked Sendable {
  override func start() { super.start() }
}
