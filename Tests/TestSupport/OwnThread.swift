// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// The error that a test reports if its body does not return in time.
package struct HangError: Error, CustomStringConvertible {
  let limit: Duration

  /// A sentence that names the time limit.
  package var description: String { "The body hangs: it has not returned within \(limit)" }
}

/// Runs a closure that may block on a new thread, so that it does not block a thread of Swift
/// concurrency. If the closure hangs, the test fails and does not hang.
///
/// The closure runs as a part of the calling task, so that its expectations are recorded for the
/// running test.
///
/// - Parameters:
///   - limit: The maximum time that the closure may take.
///   - stackSize: The size of the thread's stack, in bytes.
///   - body: The closure.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure, or ``HangError`` if the closure hangs.
package func onOwnThread<Result: Sendable>(
  within limit: Duration = .seconds(240), stackSize: Int = 1 << 21,
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  let outcome = Outcome<Result>()
  Task(executorPreference: ThreadPerJobExecutor(stackSize: stackSize)) {
    outcome.settle(Swift.Result(catching: body))
  }
  let watchdog = Task {
    try await Task.sleep(for: limit)
    outcome.settle(.failure(HangError(limit: limit)))
  }
  defer { watchdog.cancel() }
  return try await outcome.value()
}

/// A trait for tests that block, for example while another program works. Each of these tests runs
/// on a new thread.
///
/// Swift concurrency has one thread for each processor. A test that blocks one of these threads
/// delays other tests.
package struct OnOwnThread: TestTrait, SuiteTrait, TestScoping {
  /// The trait of a suite also applies to the suite's tests.
  package let isRecursive = true

  /// Runs the test on a new thread.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await withTaskExecutorPreference(ThreadPerJobExecutor(stackSize: 1 << 21)) {
      try await function()
    }
  }
}

extension Trait where Self == OnOwnThread {
  /// A trait with which each test runs on a new thread.
  package static var onOwnThread: Self { OnOwnThread() }
}

/// Runs `body` on a number of new threads at the same time, and waits for all of them. `body`
/// begins when all threads exist.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let start = Gate()
  let running = Monitored(count)
  for index in 0..<count {
    startThread {
      start.pass()
      body(index)
      running.change { $0 -= 1 }
    }
  }
  start.waitForArrivals(count)
  start.open()
  running.wait(for: "\(count) threads to end", limit: 240) { $0 == 0 }
}

/// An executor that runs each job on a new thread.
private final class ThreadPerJobExecutor: TaskExecutor {
  private let stackSize: Int

  init(stackSize: Int) { self.stackSize = stackSize }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    startThread(stackSize: stackSize) { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A result for which one task waits. If two results are set, the first one counts.
private final class Outcome<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var continuation: CheckedContinuation<Value, any Error>?
  }

  private let state = Monitored(State())

  func settle(_ result: Result<Value, any Error>) {
    let continuation = state.change { state -> CheckedContinuation<Value, any Error>? in
      if state.result != nil { return nil }
      state.result = result
      return state.continuation.take()
    }
    continuation?.resume(with: result)
  }

  func value() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.change { state -> Result<Value, any Error>? in
        if state.result == nil { state.continuation = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }
}
