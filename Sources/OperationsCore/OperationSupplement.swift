// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What an ``Operation`` has here beyond Foundation's class of that name.
///
/// Subclasses that were written for Foundation often have a property `state` or `id` of their own.
/// Beside a member of the base class it would not compile; beside these it does, and hides them. A
/// subclass that does so is asked for ours through its base class: `(operation as Operation).id`.
///
/// Only ``Operation`` conforms.
public protocol OperationSupplement: AnyObject {}

extension Operation: OperationSupplement {}

extension OperationSupplement where Self: Operation {
  /// Identifies the operation; the number that `opq-top` shows. Given out when first asked for.
  public var id: OperationID {
    if let known = rare?.identifier.load(ordering: .relaxed), known != 0 {
      return OperationID(rawValue: known)
    }
    return makeRare { rare in
      let known = rare.identifier.load(ordering: .relaxed)
      if known != 0 { return OperationID(rawValue: known) }
      let fresh = OperationID.next()
      rare.identifier.store(fresh.rawValue, ordering: .relaxed)
      return fresh
    }
  }

  /// The state as one exclusive value, as the queue sees it.
  public var state: Operation.State { status.load(ordering: .acquiring).state }
}
