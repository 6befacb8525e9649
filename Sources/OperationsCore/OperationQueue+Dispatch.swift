// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch

extension OperationQueue {
  /// The dispatch queue on which the operations run; `nil`, the default, where they run on threads of
  /// this library's.
  ///
  /// Each operation is one block in that queue, among its other blocks: a serial queue runs one at a
  /// time, whatever ``maxConcurrentOperationCount`` says, and a concurrent one as many as Dispatch
  /// has threads for. The order in which they start remains this queue's, and so do width and
  /// suspension: suspending this queue leaves the dispatch queue alone. Suspended itself, the
  /// dispatch queue holds up the operations that have not begun. Several operation queues may have
  /// the same one. At most 1,024 blocks wait in it on behalf of one operation queue. Its quality of
  /// service, if it has one, overrides ``qualityOfService``.
  ///
  /// Further blocks of a ``BlockOperation`` run on threads of this library's in any case.
  ///
  /// The dispatch queue is retained. `nil` goes back to the library's threads. That of ``main`` is
  /// fixed.
  ///
  /// Source: Apple, "OperationQueue.underlyingQueue".
  ///
  /// - Precondition: The queue has no operations when it is set, and it is not set to
  ///   `DispatchQueue.main`.
  public final var underlyingQueue: DispatchQueue? {
    get { core.underlyingQueue }
    set {
      guard !isFixed("underlyingQueue") else { return }
      if let newValue, MainDispatchQueue.isSame(as: newValue) {
        return Misuse.raise(
          .setsMainAsUnderlyingQueue,
          "-[OperationQueue setUnderlyingQueue:]: “\(name ?? "")” cannot use the main dispatch queue; "
            + "add the operations to OperationQueue.main")
      }
      guard core.setUnderlyingQueue(newValue) else {
        return Misuse.raise(
          .setsUnderlyingQueueWhileBusy,
          "-[OperationQueue setUnderlyingQueue:]: “\(name ?? "")” has operations that have not "
            + "finished")
      }
    }
  }
}
