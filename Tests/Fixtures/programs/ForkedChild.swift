// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import OperationsCore
import Synchronization
import TestSupport

/// Forks a child process that uses operations.
///
/// This runs in a separate program, because a thread of the tests may hold a lock of the Swift
/// runtime during the fork.
enum ForkedChild {
  /// Forks a child that uses the queue of an operation that executes in the parent, or a function
  /// that needs a thread.
  ///
  /// - Returns: How the child ended, as `waitpid` reports it.
  static func use(_ word: String) -> Int32 {
    let gate = Pipe()
    let queue = OperationQueue()
    let running = BlockOperation { gate.wait() }
    queue.addOperation(running)
    waitForStart(of: running)
    let suspended = OperationQueue()
    suspended.isSuspended = true
    suspended.addOperation { _exit(5) }
    let full = OperationQueue()
    full.maxConcurrentOperationCount = 1
    let holder = BlockOperation { gate.wait() }
    full.addOperation(holder)
    waitForStart(of: holder)
    let waiting = BlockOperation { _exit(5) }
    waiting.addDependency(running)
    OperationQueue().addOperation(waiting)
    let ending = child {
      switch word {
      case "addBlock": queue.addOperation {}
      case "addOperation": OperationQueue().addOperation(Operation())
      case "addOperations": queue.addOperations([Operation()], waitUntilFinished: false)
      case "addBarrier": queue.addBarrierBlock {}
      case "addBlockToSuspended": suspended.addOperation {}
      case "addOperationToSuspended": suspended.addOperation(Operation())
      case "addBlockToFull": full.addOperation {}
      case "addOperationToFull": full.addOperation(Operation())
      case "awaitOperation":
        Task(executorPreference: CallingThread()) { await running.finished() }
      case "awaitQueue":
        Task(executorPreference: CallingThread()) { await full.waitForAll() }
      case "waitForOperation": running.waitUntilFinished()
      case "waitForQueue": queue.waitUntilAllOperationsAreFinished()
      case "resume": suspended.isSuspended = false
      case "cancel": waiting.cancel()
      case "startAsynchronous": AsyncOperation {}.start()
      case "startSeveralBlocks":
        let several = BlockOperation {}
        several.addExecutionBlock {}
        several.start()
      default: _exit(4)
      }
    }
    // The parent must be unchanged.
    suspended.cancelAllOperations()
    waiting.cancel()
    for _ in 0..<2 { gate.open() }
    for queue in [queue, full] { queue.waitUntilAllOperationsAreFinished() }
    return ending
  }

  /// Forks a child that starts operations directly after the parent has used a queue.
  static func startByHand() -> Int32 {
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    return child {
      let first = BlockOperation {}
      let second = BlockOperation {}
      // The `isReady` of a subclass with a dependency is evaluated on another thread.
      let subclass = PlainSubclass()
      second.addDependency(first)
      for operation in [first, second, subclass] { operation.start() }
      second.waitUntilFinished()
      guard second.isFinished, subclass.isFinished else { _exit(3) }
    }
  }

  /// Forks a child before the first queue exists. The child uses queues.
  static func useEarly() -> Int32 {
    let ending = child {
      let queue = OperationQueue()
      queue.addOperations((0..<100).map { _ in BlockOperation {} }, waitUntilFinished: true)
      guard queue.operationCount == 0 else { _exit(3) }
    }
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    return ending
  }

  private static func waitForStart(of operation: Operation) {
    let hasStarted = poll(for: .seconds(Patience.seconds)) { operation.isExecuting }
    precondition(hasStarted, "The operation did not start")
  }

  /// Runs `body` in a child process and waits for its end. An alarm ends a child that hangs.
  private static func child(_ body: () -> Void) -> Int32 {
    // The module does not offer `fork`, because the child has only this thread.
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
    // Wait until the other threads sleep: a thread in the Swift runtime may hold one of its locks,
    // and the child would wait for it.
    usleep(200_000)
    let process = fork()
    if process == 0 {
      alarm(20)
      body()
      _exit(0)
    }
    var status: Int32 = -1
    waitpid(process, &status, 0)
    return status
  }
}

/// Runs the jobs of tasks on the thread that enqueues them: a child process has no other.
private final class CallingThread: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// Blocks threads. Each opening lets one of them go on.
private struct Pipe: Sendable {
  private let reading: Int32
  private let writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0)
    (reading, writing) = (ends[0], ends[1])
  }

  func wait() {
    var byte: UInt8 = 0
    _ = read(reading, &byte, 1)
  }

  func open() {
    var byte: UInt8 = 0
    _ = write(writing, &byte, 1)
  }
}

private final class PlainSubclass: Operation, @unchecked Sendable {}
