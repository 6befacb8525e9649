// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The operation that performs others, for its closure, which is made before it.
final class Performer: Sendable {
  private let reference = Atomic<Unmanaged<Operation>?>(nil)

  /// Set once, before the operation can start.
  func set(_ operation: Operation) {
    reference.store(.passUnretained(operation), ordering: .releasing)
  }

  /// Asked only while the operation executes: its task holds it.
  fileprivate var operation: Operation? {
    reference.load(ordering: .acquiring)?.takeUnretainedValue()
  }
}

extension AsyncOperation {
  /// Starts the operation by hand, as part of the calling task, and waits for its end.
  ///
  /// When the task is cancelled the operation is, too; its end is waited for all the same.
  ///
  /// - Parameter performer: The operation that the calling task belongs to. It is known to wait for this one.
  /// - Returns: What the operation returned.
  /// - Throws: What the operation failed with, or why it could not be started.
  final func perform(for performer: Performer) async throws -> Output {
    performer.operation?.beginAwaiting(.operation(self))
    defer { performer.operation?.endAwaiting(.operation(self)) }
    return try await withTaskCancellationHandler {
      do throws(Misuse) {
        try tryStart()
      } catch {
        // It will not finish by itself: waiting would be for ever.
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
