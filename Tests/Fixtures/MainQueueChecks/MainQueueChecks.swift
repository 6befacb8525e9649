// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Starts a thread that checks the main queue of this program and then ends the program. The caller
/// must begin to serve the main dispatch queue after this call.
///
/// - Precondition: Called on the main thread, before any other use of the main queue.
/// - Parameter isServedByMainThread: Whether the main thread executes the operations.
package func checkMainQueue(isServedByMainThread: Bool) {
  let checks = Checks()
  let log = Locked<[String]>([])
  let note: @Sendable (String) -> Void = { event in log.withLock { $0.append(event) } }
  checks.expect(OperationQueue.current === OperationQueue.main, "main is current before serving")

  OperationQueue.main.addOperation {
    checks.expect(OperationQueue.current === OperationQueue.main, "main is current inside")
    checks.expect(isMainThread == isServedByMainThread, "the operation is on the right thread")
    note("first")
  }
  DispatchQueue.main.async {
    checks.expect(OperationQueue.current === OperationQueue.main, "main is current in a block")
    note("block")
  }
  OperationQueue.main.addBarrierBlock {
    checks.expect(OperationQueue.current === OperationQueue.main, "main is current in a barrier")
    checks.expect(isMainThread == isServedByMainThread, "the barrier is on the right thread")
    note("barrier")
  }
  OperationQueue.main.addOperation { note("second") }
  checks.expect(log.withLock { $0.isEmpty }, "nothing runs before the main queue is served")

  startThread {
    checks.expect(OperationQueue.current == nil, "no queue is current on a foreign thread")
    OperationQueue.main.waitUntilAllOperationsAreFinished()
    // `OperationQueue` does not count a block of the dispatch queue. `DispatchQueue.sync` waits for
    // the blocks that were submitted before.
    DispatchQueue.main.sync {}
    checks.expect(
      log.withLock { $0 } == ["first", "block", "barrier", "second"], "the order of adding")
    checkFixed(checks)
    checkCancelling(checks)
    checkSerial(checks)
    checkInside(checks)
    checkUnderlyingMain(checks, isServedByMainThread: isServedByMainThread)
    checks.end()
  }
}

/// Checks that setting the properties of the main queue has no effect, because they are fixed.
private func checkFixed(_ checks: Checks) {
  let reported = Locked<[OperationDiagnostic.Kind]>([])
  OperationDiagnostic.handler = { diagnostic in reported.withLock { $0.append(diagnostic.kind) } }
  let main = OperationQueue.main
  main.name = "another"
  main.maxConcurrentOperationCount = 5
  main.qualityOfService = .background
  main.underlyingQueue = nil
  main.isSuspended = true
  checks.expect(
    reported.withLock { $0 } == Array(repeating: .setsFixedPropertyOfMainQueue, count: 5),
    "reported")
  checks.expect(main.name == "NSOperationQueue Main Queue", "the name stays")
  checks.expect(main.maxConcurrentOperationCount == 1, "the width stays")
  checks.expect(main.qualityOfService == .userInteractive, "the quality of service stays")
  checks.expect(
    main.underlyingQueue?.label == DispatchQueue.main.label, "the underlying queue stays")
  checks.expect(!main.isSuspended, "it is not suspended")
}

/// Checks that `cancelAllOperations()` of the main queue cancels all its operations.
private func checkCancelling(_ checks: Checks) {
  let main = OperationQueue.main
  let canceller = BlockOperation()
  let others = (0..<10).map { _ in BlockOperation { checks.expect(false, "a cancelled one runs") } }
  canceller.addExecutionBlock {
    for other in others { main.addOperation(other) }
    main.cancelAllOperations()
  }
  main.addOperation(canceller)
  main.waitUntilAllOperationsAreFinished()
  for operation in others + [canceller] {
    checks.expect(operation.isCancelled && operation.isFinished, "it is cancelled and retired")
  }
  checks.expect(main.operationCount == 0, "the main queue is empty")
}

/// Checks that operations from four threads execute one at a time.
private func checkSerial(_ checks: Checks) {
  let running = Locked(0)
  let runCount = Locked(0)
  DispatchQueue.concurrentPerform(iterations: 4) { _ in
    for _ in 0..<500 {
      OperationQueue.main.addOperation {
        checks.expect(
          running.withLock {
            $0 += 1; return $0
          } == 1, "one at a time")
        runCount.withLock { $0 += 1 }
        running.withLock { $0 -= 1 }
      }
    }
  }
  OperationQueue.main.waitUntilAllOperationsAreFinished()
  checks.expect(runCount.withLock { $0 } == 2_000, "all have run, once each")
}

/// Checks the value of `OperationQueue.current` in operations and blocks that run inside each
/// other.
private func checkInside(_ checks: Checks) {
  let queue = OperationQueue()
  queue.addOperation {
    checks.expect(OperationQueue.current === queue, "a queue's own operation")
    DispatchQueue.main.sync {
      checks.expect(
        OperationQueue.current === OperationQueue.main, "main inside another's operation")
    }
    checks.expect(OperationQueue.current === queue, "the operation's queue again")
  }
  let targeting = OperationQueue()
  targeting.underlyingQueue = DispatchQueue(label: "targets main", target: .main)
  targeting.addOperation {
    checks.expect(OperationQueue.current === targeting, "a queue that runs by way of main")
  }
  OperationQueue.main.addOperation {
    let inner = BlockOperation {
      checks.expect(OperationQueue.current === OperationQueue.main, "main across a nested start")
    }
    inner.start()
    DispatchQueue(label: "other").sync {
      checks.expect(OperationQueue.current === OperationQueue.main, "main in a block inside")
    }
  }
  for each in [queue, targeting, .main] { each.waitUntilAllOperationsAreFinished() }
}

/// Checks a queue whose underlying queue is the main dispatch queue.
private func checkUnderlyingMain(_ checks: Checks, isServedByMainThread: Bool) {
  let queue = OperationQueue()
  queue.underlyingQueue = .main
  let running = Locked(0)
  let finishedCount = Locked(0)
  for _ in 0..<200 {
    queue.addOperation {
      checks.expect(isMainThread == isServedByMainThread, "the main queue's thread runs it")
      checks.expect(OperationQueue.current === queue, "the queue itself is current")
      let count = running.withLock { running in
        running += 1
        return running
      }
      checks.expect(count == 1, "one at a time")
      running.withLock { $0 -= 1 }
      finishedCount.withLock { $0 += 1 }
    }
  }
  queue.addBarrierBlock {
    checks.expect(finishedCount.withLock { $0 } == 200, "the barrier runs after the operations")
  }
  queue.waitUntilAllOperationsAreFinished()
  checks.expect(finishedCount.withLock { $0 } == 200, "all have run")
  queue.underlyingQueue = nil
  queue.addOperation { checks.expect(!isMainThread, "nil goes back to the library's threads") }
  queue.waitUntilAllOperationsAreFinished()
}

/// Whether the calling thread is the process's first one.
package var isMainThread: Bool { csystem_thread_id() == getpid() }

/// Starts a thread that runs `body`, and does not wait for it.
package func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Context: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let context = Unmanaged.passRetained(Context(body)).toOpaque()
  let error = csystem_start_thread(
    { Unmanaged<Context>.fromOpaque($0).takeRetainedValue().body() }, context)
  precondition(error == 0, "No thread can be started: error \(error)")
}
