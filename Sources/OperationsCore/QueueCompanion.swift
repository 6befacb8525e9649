// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationQueue {
  /// What another module of this package keeps with this queue, for as long as the queue exists: one
  /// object of one class of that module's, made when it is first asked for.
  ///
  /// - Parameter make: Called on the asking thread where there is none yet. Where several threads ask
  ///   at the same time each may call it, and all are given the same object. Must not retain the
  ///   queue.
  /// - Returns: The object.
  package final func companion(_ make: () -> AnyObject) -> AnyObject {
    companionReference.load() ?? companionReference.storeIfNil(make())
  }
}
