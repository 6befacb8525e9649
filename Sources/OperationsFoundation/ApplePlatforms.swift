// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(ObjectiveC)
  // On Apple platforms a queue is Foundation's own. The additions of this module have counterparts here, so
  // that code that uses them compiles unchanged.
  public import Foundation

  /// On Apple platforms every object can observe by key path.
  public typealias ObserverObject = NSObject

  extension OperationQueue {
    /// The queue itself, because it is Foundation's.
    public var foundationQueue: OperationQueue { self }

    /// Whether cancelling ``progress`` cancels the operations that are in the queue; `false` by default. The
    /// value is kept in the progress' `cancellationHandler`.
    public var cancelsOperationsWithProgress: Bool {
      get { progress.cancellationHandler != nil }
      set {
        progress.cancellationHandler =
          newValue ? { [weak self] in self?.cancelAllOperations() } : nil
      }
    }
  }
#endif
