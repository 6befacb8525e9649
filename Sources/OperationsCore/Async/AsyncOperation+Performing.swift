// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension AsyncOperation {
  /// Starts the operation by hand, as part of the calling task, and waits for its end.
  ///
  /// When the task is cancelled the operation is, too; its end is waited for all the same.
  ///
  /// - Throws: What the operation failed with, or why it could not be started.
  final func perform() async throws -> Output {
    try await withTaskCancellationHandler {
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
