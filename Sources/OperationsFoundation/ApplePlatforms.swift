// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(ObjectiveC)
  // There a queue is Foundation's own. What this module adds to it elsewhere has its counterpart here,
  // so that code which uses it compiles unchanged.
  public import Foundation

  /// There every object can observe by key path.
  public typealias ObserverObject = NSObject

  extension OperationQueue {
    /// The queue itself: it is Foundation's.
    public var foundationQueue: OperationQueue { self }

    /// Whether cancelling ``progress`` cancels the operations that are in the queue; `false` by
    /// default. Kept in the progress' `cancellationHandler`.
    public var cancelsOperationsWithProgress: Bool {
      get { progress.cancellationHandler != nil }
      set {
        progress.cancellationHandler =
          newValue ? { [weak self] in self?.cancelAllOperations() } : nil
      }
    }
  }
#endif
