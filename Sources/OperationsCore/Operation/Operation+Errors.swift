// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// What went wrong; `nil` where nothing did, as far as the operation has said.
  ///
  /// Set by ``recordError(_:)`` and ``cancel(because:)``, by an ``InvocationOperation`` or
  /// ``AsyncOperation`` whose body throws, and by what cancels an operation for a reason, such as a
  /// dependency that failed. Does not change any more once the operation has finished. An operation
  /// that was merely cancelled has none.
  public var error: (any Error)? {
    withRare { rare in
      rare?.error
        // A reason for cancelling counts where that took effect.
        ?? (status.load(ordering: .acquiring).isCancelled ? rare?.cancellationReason : nil)
    }
  }

  /// Records what went wrong, for a subclass to call before it finishes.
  ///
  /// The operation counts as failed from then on, for those that depend on its success; nothing else
  /// follows: it still has to finish. On any thread.
  ///
  /// - Parameter error: Kept where none was recorded before.
  /// - Returns: Whether it was kept. Not on an operation that has finished.
  @discardableResult
  public func recordError(_ error: any Error) -> Bool { keepError(error) }

  /// Cancels the operation, and records why.
  ///
  /// As `cancel()`, which is called whether or not the error is kept.
  ///
  /// - Parameter error: Shown by ``error`` if the operation is cancelled by this or was before, has not
  ///   finished, and nothing was recorded before.
  public func cancel(because error: any Error) {
    keepError(error, at: \.cancellationReason)
    cancel()
  }
}

extension Operation {
  /// - Returns: Whether it is the first, and in time.
  @discardableResult
  final func keepError(
    _ error: any Error, at place: ReferenceWritableKeyPath<RareState, (any Error)?> = \.error
  ) -> Bool {
    makeRare { rare in
      // Who has seen the finish and takes the lock after that finds what was recorded before it.
      let status = status.load(ordering: .sequentiallyConsistent)
      let isLater = rare.error != nil || rare.cancellationReason != nil && status.isCancelled
      if isLater || status.isFinished || rare[keyPath: place] != nil { return false }
      rare[keyPath: place] = error
      return true
    }
  }
}
