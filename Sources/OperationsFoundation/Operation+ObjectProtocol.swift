// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  /// Operations have the members of `NSObjectProtocol`, although they do not inherit from `NSObject`. So a
  /// subclass can adopt protocols of Foundation that inherit from `NSObjectProtocol`, such as
  /// `ProgressReporting`.
  extension OperationsCore.Operation: NSObjectProtocol {
    /// Returns this operation itself.
    public func `self`() -> Self { self }

    /// Returns `false`, because the object is not a proxy for another object.
    public func isProxy() -> Bool { false }
  }

  /// Queues have the members of `NSObjectProtocol`, as operations do.
  extension OperationsCore.OperationQueue: NSObjectProtocol {
    /// Returns this queue itself.
    public func `self`() -> Self { self }

    /// Returns `false`, because the object is not a proxy for another object.
    public func isProxy() -> Bool { false }
  }
#endif
