// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// A reference to an operation whose closure starts other operations directly. The closure is
/// created before its operation, so it captures this reference instead of the operation.
final class Performer: Sendable {
  private let reference = Atomic<Unmanaged<Operation>?>(nil)

  /// Sets the operation that the reference refers to. Called once, before the operation can start.
  func set(_ operation: Operation) {
    reference.store(.passUnretained(operation), ordering: .releasing)
  }

  /// The operation that the reference refers to. It is read only while the operation executes,
  /// because the operation's task retains the operation during that time.
  var operation: Operation? {
    reference.load(ordering: .acquiring)?.takeUnretainedValue()
  }
}

extension ResultOperation {
  /// Starts the operation directly, as part of the calling task, and waits until it has finished.
  ///
  /// If the task is cancelled, the operation is cancelled too, but this method still waits until
  /// the operation has finished.
  ///
  /// - Parameter performer: The operation of the calling task, which is recorded as waiting for
  ///   this operation.
  /// - Returns: The result of the operation.
  /// - Throws: The operation's error, or the reason why it could not be started.
  final func perform(for performer: Performer) async throws -> Output {
    let runner = performer.operation
    setRunner(runner)
    runner?.beginAwaiting(.operation(self))
    defer {
      runner?.endAwaiting(.operation(self))
      setRunner(nil)
    }
    return try await withTaskCancellationHandler {
      do throws(OperationMisuse) {
        try tryStart()
      } catch {
        // The operation was not started and will never finish, so this method must not wait for it.
        OperationMisuse.raise(error.kind, error.description)
        throw error
      }
      await finishedRegardless()
      return try finalResult.get()
    } onCancel: {
      if let container = performer.operation {
        CancellationScope.cancel(self, because: .container(container.id)) { cancel() }
      } else {
        cancel()
      }
    }
  }
}
