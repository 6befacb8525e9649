// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// The error of the operation; `nil` if no error was recorded.
  ///
  /// The error is set by ``fail(with:)`` and ``cancel(with:)``, by an
  /// ``InvocationOperation`` or ``AsyncOperation`` whose body throws, and by a cancellation with a
  /// reason, such as a failed dependency. It does not change after the operation has finished. An
  /// operation that was cancelled without a reason has no error.
  public var error: (any Error)? {
    withRare { rare in
      rare?.error
        // The reason that was passed to `cancel(with:)` is the error of the operation only if
        // the cancellation took effect.
        ?? (status.load(ordering: .acquiring).isCancelled ? rare?.cancellationReason : nil)
    }
  }

  /// Records an error. A subclass calls it before the operation finishes.
  ///
  /// From then on, the operation counts as failed for operations that require its success. There is
  /// no other effect: the operation still has to finish. This method can be called on any thread.
  ///
  /// - Parameter error: The error, which is stored if no error was recorded before.
  /// - Returns: Whether the error was stored. A finished operation stores no error.
  @discardableResult
  public func fail(with error: any Error) -> Bool { keepError(error) }

  /// Cancels the operation, and records the reason.
  ///
  /// This method calls `cancel()`, whether or not the error is stored.
  ///
  /// - Parameter reason: The reason of the cancellation. It becomes the operation's ``error`` if the
  ///   operation is or was cancelled, has not finished, and no error was recorded before.
  public func cancel(with reason: any Error) {
    keepError(reason, at: \.cancellationReason)
    cancel()
  }
}

extension Operation {
  /// Returns the error if the operation has finished with an error and was not cancelled, without the
  /// operation's lock.
  ///
  /// The flag `hasFinishDuties` is set before an error is stored. The thread that finishes an
  /// operation with this flag then acquires the operation's lock, so it sees each error that was
  /// stored before the finish. No error is stored after the finish.
  ///
  /// - Parameter status: The status of the operation.
  /// - Returns: The error; `nil` if the operation has not failed.
  /// - Precondition: The operation has finished, and the thread that has finished it has carried out
  ///   its duties (`performFinishDuties`).
  @inline(__always)
  final func failure(_ status: OperationStatus) -> (any Error)? {
    status.has(.hasFinishDuties) && !status.isCancelled ? rare?.error : nil
  }

  /// Returns whether the operation has finished with an error and was not cancelled; see ``failure(_:)``.
  @inline(__always)
  final func hasFailed(_ status: OperationStatus) -> Bool { failure(status) != nil }

  /// Stores an error in the property at `place`.
  ///
  /// - Returns: Whether the error was stored. The result is `false` if an error is already stored
  ///   or the operation has finished.
  @discardableResult
  final func keepError(
    _ error: any Error, at place: ReferenceWritableKeyPath<RareState, (any Error)?> = \.error
  ) -> Bool {
    makeRare { rare in
      // If a thread sees the finish and then acquires the lock, it finds all errors that were
      // recorded before the finish.
      let status = status.load(ordering: .sequentiallyConsistent)
      let isLater = rare.error != nil || rare.cancellationReason != nil && status.isCancelled
      if isLater || rare[keyPath: place] != nil { return false }
      // The thread that finishes the operation reads the error if it finds this flag.
      guard update({ $0.promise(.hasFinishDuties) }) else { return false }
      rare[keyPath: place] = error
      return true
    }
  }
}
