// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests that `cancel()` does not wait for the thread that creates the task of an operation. That
/// thread may run the task's jobs before it continues, or may get no processor time.
@Suite("Asynchronous operations with unusual executors and threads")
struct AsyncExecutorTests {
  @Test("CA-8: cancel() takes effect if the runtime runs each job on the thread that enqueues it")
  func inlineJobsInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      alarm(120)
      InlineJobs.begin()
      var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
      fflush(nil)
      let moments = CancelMoments()
      for _ in 0..<Effort.scaled(10_000) {
        let delay = Int.random(in: 0..<2_000, using: &random)
        let gate = AsyncGate()
        let operation = AsyncOperation { try await gate.passUnlessCancelled() }
        onThreads(2) { thread in
          if thread == 0 { return operation.start() }
          for _ in 0..<delay where operation.isFinished { return }
          moments.note(operation, gate)
          operation.cancel()
        }
        precondition(poll(for: .seconds(Patience.seconds)) { operation.isFinished })
        precondition(operation.isCancelled)
      }
      precondition(InlineJobs.count > 0, "The runtime did not use the executor")
      print(moments)
      exit(EXIT_SUCCESS)
    }
    printOutput(of: result)
  }

  /// Prints the output of an exit test: the seed, and how often the race happened.
  private func printOutput(of result: ExitTest.Result?) {
    print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
  }

  @Test("WA-6: a task that its executor resumes on the worker may wait for the next operation")
  func resumedOnTheWorker() async throws {
    try await expectNextCanBeAwaited { operations, _ in await operations[0].waitUntilFinished() }
  }

  @Test(
    "WA-6: a task that its executor resumes when the queue has few operations may wait for the next one"
  )
  func admittedOnTheWorker() async throws {
    try await expectNextCanBeAwaited { _, queue in
      try await queue.waitUntilOperationCount(isBelow: 2)
    }
  }

  /// Expects that a task can block its thread until the second operation of a queue has finished, after an
  /// asynchronous wait that ends when the first one has finished.
  private func expectNextCanBeAwaited(
    after wait: @escaping @Sendable ([BlockOperation], OperationQueue) async throws -> Void
  ) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let operations = [BlockOperation {}, BlockOperation {}]
      queue.addOperations(operations, waitUntilFinished: false)
      let hasWaited = Gate()
      Task(executorPreference: CallingThreadExecutor()) {
        try await wait(operations, queue)
        Self.wait(for: operations[1])
        hasWaited.open()
      }
      queue.isSuspended = false
      #expect(hasWaited.waitUntilOpen())
    }
  }

  @Test("WA-6: a task that its executor resumes when the queue is empty may use the queue")
  func resumedOnTheSearchingWorker() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let first = Gate()
      queue.addOperation { first.pass() }
      let hasWaited = Latch()
      Task(executorPreference: CallingThreadExecutor()) {
        await queue.waitUntilAllOperationsAreFinished()
        let operation = BlockOperation {}
        queue.addOperation(operation)
        Self.wait(for: operation)
        hasWaited.open()
      }
      first.open()
      hasWaited.wait()
    }
  }

  private static func wait(for operation: Operation) { operation.waitUntilFinished() }

  @Test(
    "CA-8: a real-time thread does not wait in cancel() for a thread that creates a task",
    .enabled(if: RealTime.isPermitted, "SCHED_FIFO is not permitted"))
  func realTimeInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      alarm(120)
      try await onOwnThread {
        RealTime.useOneProcessor()
        let queue = OperationQueue()
        // The first operation creates the worker's thread while this thread still has normal
        // priority, so the worker has normal priority too.
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        precondition(RealTime.begin())
        var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
        fflush(nil)
        let moments = CancelMoments()
        var longest = Duration.zero
        for _ in 0..<Effort.scaled(10_000) {
          let gate = AsyncGate()
          let operation = queue.addAsyncOperation { try await gate.passUnlessCancelled() }
          // This thread has real-time priority. When its sleep ends, it interrupts the worker,
          // which may be anywhere in the start of the operation.
          usleep(UInt32.random(in: 0..<100, using: &random))
          moments.note(operation, gate)
          longest = max(longest, ContinuousClock().measure { operation.cancel() })
          operation.waitUntilFinished()
        }
        // If `cancel()` waited for the worker, it would take at least 950 ms: only then does the
        // kernel run threads of normal priority.
        precondition(longest < .milliseconds(500), "\(longest)")
        print(moments)
      }
      exit(EXIT_SUCCESS)
    }
    printOutput(of: result)
  }
}

/// Counts how often an operation is cancelled while it executes and its work has not begun. In that time,
/// another thread creates the task.
private final class CancelMoments: Sendable, CustomStringConvertible {
  private let counts = Monitored((all: 0, early: 0))

  var description: String {
    let (all, early) = counts.value
    return "\(early) of \(all) operations were cancelled after their start and before their work"
  }

  /// Counts an operation, and checks whether it executes although its work has not begun. The
  /// caller must cancel the operation directly after this call.
  func note(_ operation: Operation, _ gate: AsyncGate) {
    let isEarly = operation.isExecuting && gate.arrivedCount == 0
    counts.change { counts in
      counts.all += 1
      if isEarly { counts.early += 1 }
    }
  }
}

/// A global executor that runs each job on the thread that enqueues it.
private enum InlineJobs {
  private typealias Hook = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> Void

  private static let executor = CallingThreadExecutor()
  private static let ranCount = Atomic<Int>(0)

  /// The number of jobs that the Swift runtime has passed to this executor.
  static var count: Int { ranCount.load(ordering: .relaxed) }

  /// Replaces the global executor of Swift concurrency until the process ends.
  static func begin() {
    let hook: Hook = { job, _ in InlineJobs.run(unsafeBitCast(job, to: UnownedJob.self)) }
    let place = dlsym(nil, "swift_task_enqueueGlobal_hook")
    place?.assumingMemoryBound(to: Hook?.self).pointee = hook
  }

  private static func run(_ job: UnownedJob) {
    ranCount.wrappingAdd(1, ordering: .relaxed)
    job.runSynchronously(on: executor.asUnownedTaskExecutor())
  }
}

/// The real-time scheduling class of the kernel, which the calling thread can enter.
private enum RealTime {
  /// Whether a thread of this process may enter the real-time class.
  static var isPermitted: Bool {
    let result = Monitored<Bool?>(nil)
    startThread { result.change { $0 = begin() } }
    return result.wait(for: "a thread") { $0 != nil } && result.value == true
  }

  static func begin() -> Bool {
    var parameters = sched_param()
    parameters.sched_priority = 1
    return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0
  }

  private typealias AffinityCall =
    @convention(c) (pid_t, Int, UnsafeMutableRawPointer?) -> Int32

  /// Restricts the calling thread, and the threads that it creates, to one processor: the first one
  /// that the calling thread may use.
  static func useOneProcessor() {
    // The module `Glibc` does not declare the functions for the processors of a thread, so they are
    // looked up by name.
    let get = unsafeBitCast(dlsym(nil, "sched_getaffinity"), to: AffinityCall.self)
    let set = unsafeBitCast(dlsym(nil, "sched_setaffinity"), to: AffinityCall.self)
    var allowed = [UInt8](repeating: 0, count: 128)
    precondition(get(0, allowed.count, &allowed) >= 0)
    let index = allowed.firstIndex { $0 != 0 } ?? 0
    let first = allowed[index] & (~allowed[index] &+ 1)
    allowed = [UInt8](repeating: 0, count: 128)
    allowed[index] = first
    precondition(set(0, allowed.count, &allowed) == 0)
  }
}
