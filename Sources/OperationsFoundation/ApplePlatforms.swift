// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(ObjectiveC)
  // On Apple platforms this library's queues are Foundation's queues. This file declares the members that the
  // module adds to queues on other platforms, so that code that uses them compiles unchanged.
  public import Foundation

  /// The base class of observers. On Apple platforms every object can observe by key path.
  public typealias ObserverObject = NSObject

  extension OperationQueue {
    /// This queue itself, which on Apple platforms is already a queue of Foundation.
    public var foundationQueue: OperationQueue { self }

    /// Whether cancelling ``progress`` cancels the operations that are in the queue; `false` by default. The
    /// value is stored in the `cancellationHandler` of the progress.
    public var cancelsOperationsWithProgress: Bool {
      get { progress.cancellationHandler != nil }
      set {
        progress.cancellationHandler =
          newValue ? { [weak self] in self?.cancelAllOperations() } : nil
      }
    }
  }
#endif
