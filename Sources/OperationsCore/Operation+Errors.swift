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
  public var error: (any Error)? { withRare { $0?.error } }

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
  /// - Parameter error: Shown by ``error``, unless something was recorded before or the operation has
  ///   finished.
  public func cancel(because error: any Error) {
    keepError(error)
    cancel()
  }
}

extension Operation {
  /// - Returns: Whether it is the first, and in time.
  @discardableResult
  final func keepError(_ error: any Error) -> Bool {
    makeRare { rare in
      // Who has seen the finish and takes the lock after that finds what was recorded before it.
      guard rare.error == nil, !status.load(ordering: .sequentiallyConsistent).isFinished else {
        return false
      }
      rare.error = error
      return true
    }
  }
}
