// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import JobRun
import Synchronization

/// Asynchronous work for which a thread waits.
enum AwaitedWork {
  /// Performs work, and blocks the calling thread until it is done. A thread of a task must not call this function.
  ///
  /// - Parameter work: The work.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  static func result<Value: Sendable>(
    of work: @escaping @Sendable () async throws(RunFailure) -> Value
  ) throws(RunFailure) -> Value {
    let result = Mutex<Result<Value, RunFailure>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      let value = await outcome(of: work)
      result.withLock { $0 = value }
      isDone.signal()
    }
    isDone.wait()
    guard let value = result.withLock({ $0 }) else { fatalError("the work has no result") }
    return try value.get()
  }

  private static func outcome<Value: Sendable>(
    of work: () async throws(RunFailure) -> Value
  ) async -> Result<Value, RunFailure> {
    do throws(RunFailure) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}
