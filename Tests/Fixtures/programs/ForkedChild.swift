// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import FixtureSupport
import OperationsCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Forks a child process that uses operations.
///
/// This code runs in a separate program, because a thread of the tests may hold a lock of the Swift
/// runtime during the fork.
enum ForkedChild {
  /// Forks a child process that uses the library in the way that `word` names: it uses a queue or
  /// an operation of the parent process, or calls a function that needs another thread.
  ///
  /// - Returns: How the child ended, as `waitpid` reports it.
  static func use(_ word: String) -> Int32 {
    let parent = Parent()
    let ending = child {
      guard parent.add(word) || parent.wait(word) || parent.change(word) || start(word) else {
        _exit(4)
      }
    }
    parent.end()
    return ending
  }

  /// Starts an operation directly in the child process, in the way that `word` names. Each of these
  /// ways needs another thread.
  ///
  /// - Returns: Whether `word` names a way to start an operation.
  private static func start(_ word: String) -> Bool {
    let operation = BlockOperation {}
    switch word {
    case "startAsynchronous": AsyncOperation {}.start()
    case "startSeveralBlocks":
      operation.addExecutionBlock {}
      operation.start()
    case "startWithCompletionBlock":
      operation.completionBlock = {}
      operation.start()
    case "failWithDependent":
      let failing = Failing()
      operation.addDependency(failing, requires: .success)
      failing.start()
    default: return false
    }
    return true
  }

  /// Forks a child process after the parent has used a queue. The child starts operations directly.
  static func startByHand() -> Int32 {
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    return child {
      let operations = [BlockOperation {}, BlockOperation {}, Asked(), PlainSubclass()]
      for (dependent, dependency) in zip(operations.dropFirst(), operations) {
        dependent.addDependency(dependency)
      }
      for operation in operations { operation.start() }
      for operation in operations { operation.waitUntilFinished() }
      guard operations.allSatisfy(\.isFinished) else { _exit(3) }
    }
  }

  /// Forks a child that waits for an operation which it executes on a thread of its own.
  static func startOnThread() -> Int32 {
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    return child {
      let gate = Pipe()
      let operation = BlockOperation { gate.wait() }
      startThread { operation.start() }
      let hasStarted = poll(for: .seconds(Patience.seconds)) { operation.isExecuting }
      guard hasStarted else { _exit(4) }
      startThread {
        usleep(100_000)
        gate.open()
      }
      operation.waitUntilFinished()
      guard operation.isFinished else { _exit(3) }
    }
  }

  /// Forks a child while another thread holds a lock of the library. The child acquires the lock.
  static func useLockedState() -> Int32 {
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    let gate = Pipe()
    let state = SharedState()
    startThread {
      state.value.withLock { _ in
        state.isHeld.store(true, ordering: .releasing)
        gate.wait()
      }
    }
    let isHeld = poll(for: .seconds(Patience.seconds)) { state.isHeld.load(ordering: .acquiring) }
    precondition(isHeld, "The thread did not acquire the lock")
    let ending = child { state.value.withLock { $0 += 1 } }
    gate.open()
    return ending
  }

  /// Forks a child while another thread holds a lock like that of an operation. The child acquires the lock.
  static func useBriefLock() -> Int32 {
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    let gate = Pipe()
    let state = SharedState()
    startThread {
      state.lock.lock()
      state.isHeld.store(true, ordering: .releasing)
      gate.wait()
      state.lock.unlock()
    }
    let isHeld = poll(for: .seconds(Patience.seconds)) { state.isHeld.load(ordering: .acquiring) }
    precondition(isHeld, "The thread did not acquire the lock")
    let ending = child { state.lock.lock() }
    gate.open()
    return ending
  }

  /// Forks a child process inside an operation. In the child, the operation's block then returns.
  static func returnFromOperation(in dispatchQueue: DispatchQueue? = nil) -> Int32 {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.underlyingQueue = dispatchQueue
    let result = Atomic<Int32>(-1)
    let operation = BlockOperation()
    operation.addExecutionBlock {
      let process = forked()
      // In the child process, the block returns without storing a result.
      if process != 0 { result.store(ending(of: process), ordering: .releasing) }
    }
    queue.addOperation(operation)
    let parent = getpid()
    queue.addOperation { if getpid() != parent { _exit(5) } }
    queue.waitUntilAllOperationsAreFinished()
    return result.load(ordering: .acquiring)
  }

  /// Forks a child process before the parent has created a queue. The child uses queues.
  static func useEarly() -> Int32 {
    let ending = child {
      let queue = OperationQueue()
      queue.addOperations((0..<100).map { _ in BlockOperation {} }, waitUntilFinished: true)
      guard queue.operationCount == 0 else { _exit(3) }
    }
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    return ending
  }

  /// Runs `body` in a child process and waits for its end. An alarm ends a child that hangs.
  private static func child(_ body: () -> Void) -> Int32 {
    let process = forked()
    if process == 0 {
      body()
      _exit(0)
    }
    return ending(of: process)
  }

  /// Forks a child process that an alarm ends if it hangs.
  private static func forked() -> pid_t {
    // The module `Glibc` does not declare `fork`, so it is looked up by name. Of the parent's
    // threads, the child has only the calling thread.
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
    // The program waits until the other threads sleep. A running thread may hold a lock of the
    // Swift runtime, and the child would then wait for this lock for ever.
    usleep(200_000)
    let process = fork()
    if process == 0 { alarm(20) }
    return process
  }

  private static func ending(of process: pid_t) -> Int32 {
    var status: Int32 = -1
    waitpid(process, &status, 0)
    return status
  }
}

/// The queues of the parent process, and their operations. None of these operations can start in the child.
private final class Parent: Sendable {
  private let gate = Pipe()
  private let queue = OperationQueue()
  /// A suspended queue with operations that could otherwise start.
  private let suspended = OperationQueue()
  /// A queue whose only slot is in use by an executing operation, and that has further operations.
  private let full = OperationQueue()
  private let suspendedFull = OperationQueue()
  /// An operation that executes in a queue.
  private let running: Operation
  /// An operation that waits for ``running``.
  private let waiting = BlockOperation { _exit(5) }
  /// An operation that is not in a queue. Operations whose names begin with `after` depend on it.
  private let before = Operation()
  private let after = BlockOperation { _exit(5) }
  private let afterInFull = BlockOperation { _exit(5) }
  private let askedAfterInFull = Asked()
  private let inSuspended = BlockOperation { _exit(5) }
  /// An operation that another thread of the parent has started directly.
  private let startedByHand: Operation

  init() {
    startedByHand = BlockOperation { [gate] in gate.wait() }
    running = BlockOperation { [gate] in gate.wait() }
    queue.addOperation(running)
    waiting.addDependency(running)
    queue.addOperation(waiting)
    for queue in [full, suspendedFull] {
      queue.maxConcurrentOperationCount = 1
      let holder = BlockOperation { [gate] in gate.wait() }
      queue.addOperation(holder)
      Self.waitForStart(of: holder)
    }
    Self.waitForStart(of: running)
    startThread { [startedByHand] in startedByHand.start() }
    Self.waitForStart(of: startedByHand)
    for queue in [suspended, suspendedFull] {
      queue.isSuspended = true
      queue.addOperation { _exit(5) }
    }
    suspended.addOperation(inSuspended)
    for operation in [after, afterInFull, askedAfterInFull] { operation.addDependency(before) }
    queue.addOperation(after)
    full.addOperation(afterInFull)
    full.addOperation(askedAfterInFull)
  }

  private static func waitForStart(of operation: Operation) {
    let hasStarted = poll(for: .seconds(Patience.seconds)) { operation.isExecuting }
    precondition(hasStarted, "The operation did not start")
  }

  /// Ends the operations of the parent process. The child process must not have changed them.
  func end() {
    for queue in [suspended, full, suspendedFull, queue] { queue.cancelAllOperations() }
    for queue in [suspended, suspendedFull] { queue.isSuspended = false }
    for _ in 0..<4 { gate.open() }
    for queue in [suspended, full, suspendedFull, queue] {
      queue.waitUntilAllOperationsAreFinished()
    }
    startedByHand.waitUntilFinished()
  }

  // The following functions run in the child process. The argument `word` names an action. Each
  // function returns whether it performs this action.

  func add(_ word: String) -> Bool {
    switch word {
    case "addBlock": queue.addOperation {}
    case "addOperation": OperationQueue().addOperation(Operation())
    case "addOperations": queue.addOperations([Operation()], waitUntilFinished: false)
    case "addBarrier": queue.addBarrierBlock {}
    case "addBlockToSuspended": suspended.addOperation {}
    case "addOperationToSuspended": suspended.addOperation(Operation())
    case "addBlockToFull": full.addOperation {}
    case "addOperationToFull": full.addOperation(Operation())
    default: return false
    }
    return true
  }

  func wait(_ word: String) -> Bool {
    switch word {
    // The child process has no thread that could run the task.
    case "awaitOperation":
      Task(executorPreference: CallingThreadExecutor()) { [running] in
        await running.waitUntilFinished()
      }
    case "awaitQueue":
      Task(executorPreference: CallingThreadExecutor()) { [full] in
        await full.waitUntilAllOperationsAreFinished()
      }
    case "waitForOperation": running.waitUntilFinished()
    case "waitForStartedByHand": startedByHand.waitUntilFinished()
    case "waitForQueue": queue.waitUntilAllOperationsAreFinished()
    default: return false
    }
    return true
  }

  func change(_ word: String) -> Bool {
    switch word {
    case "resume": suspended.isSuspended = false
    case "resumeFull": suspendedFull.isSuspended = false
    case "widen": queue.maxConcurrentOperationCount = 3
    case "widenSuspended": suspended.maxConcurrentOperationCount = 3
    case "cancel": waiting.cancel()
    case "cancelInFull": afterInFull.cancel()
    case "cancelInSuspended": inSuspended.cancel()
    case "cancelAllInFull": full.cancelAllOperations()
    case "prioritize": waiting.queuePriority = .high
    case "prioritizeInFull": afterInFull.queuePriority = .high
    case "makeReady": after.removeDependency(before)
    case "makeReadyInFull": afterInFull.removeDependency(before)
    case "makeReadyByFinish": before.start()
    default: return false
    }
    return true
  }
}

/// State behind a lock of the library.
private final class SharedState: Sendable {
  let value = Locked(0)
  let lock = BriefLock()
  /// Whether a thread has acquired the lock.
  let isHeld = Atomic(false)
}

/// A gate that blocks threads. Each call of `open()` lets one thread continue.
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

private final class Asked: Operation, @unchecked Sendable {
  override var isReady: Bool { super.isReady }
}

private final class Failing: Operation, @unchecked Sendable {
  private struct Failure: Error {}

  override func main() { fail(with: Failure()) }
}
