// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// A reference to the operation that performs others. The closure of that operation uses it,
/// because the closure is created before the operation.
final class Performer: Sendable {
  private let reference = Atomic<Unmanaged<Operation>?>(nil)

  /// Sets the operation that the reference refers to. Called once, before the operation can start.
  func set(_ operation: Operation) {
    reference.store(.passUnretained(operation), ordering: .releasing)
  }

  /// The operation that the reference refers to. It is read only while the operation executes,
  /// because its task retains it then.
  fileprivate var operation: Operation? {
    reference.load(ordering: .acquiring)?.takeUnretainedValue()
  }
}

extension AsyncOperation {
  /// Starts the operation directly, as part of the calling task, and waits for its end.
  ///
  /// If the task is cancelled, the operation is cancelled too, and its end is awaited nevertheless.
  ///
  /// - Parameter performer: The operation of the calling task, which is recorded as waiting for
  ///   this one.
  /// - Returns: The result of the operation.
  /// - Throws: The operation's error, or the reason why it could not be started.
  final func perform(for performer: Performer) async throws -> Output {
    performer.operation?.beginAwaiting(.operation(self))
    defer { performer.operation?.endAwaiting(.operation(self)) }
    return try await withTaskCancellationHandler {
      do throws(Misuse) {
        try tryStart()
      } catch {
        // The operation will not finish, so waiting would never end.
        Misuse.raise(error.kind, error.description)
        throw error
      }
      await finishedRegardless()
      return try finalResult.get()
    } onCancel: {
      cancel()
    }
  }
}
