// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// A limit on the number of operations that execute at the same time. It applies to all operations
/// that share the object, in any queues. Use it to protect a file, a connection, or the right to
/// ask the user a question.
///
/// ```swift
/// extension MutualExclusion {
///   static let catalogue = MutualExclusion(name: "catalogue")
///   static let uploads = MutualExclusion(name: "uploads", limit: 3)
/// }
/// operation.exclusions = [.catalogue]
/// ```
///
/// Store an exclusion where all operations that need it can access it. Two objects are two
/// exclusions, even if their names are equal: two libraries that choose the same name do not affect
/// each other.
///
/// An exclusion can be used on any thread. An operation retains the exclusions in its
/// ``OperationSupplement/exclusions``.
public final class MutualExclusion: Sendable {
  /// The name of this exclusion, for display by ``OperationSupplement/reasonsNotRunning()``.
  public let name: String
  /// The maximum number of operations with this exclusion that execute at the same time. It is at
  /// least 1.
  public let limit: Int
  /// The sequence number of this object, in the order of creation, beginning with 1.
  let number: UInt64

  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates an exclusion that is different from all others.
  ///
  /// - Parameters:
  ///   - name: The name, for display. It need not be unique.
  ///   - limit: The maximum number of operations with this exclusion that execute at the same time.
  ///     Less than 1 counts as 1.
  public init(name: String, limit: Int = 1) {
    self.name = name
    self.limit = max(1, limit)
    number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

/// Two exclusions are equal if they are the same object.
extension MutualExclusion: Hashable, CustomStringConvertible {
  /// Returns whether both exclusions are the same object.
  public static func == (left: MutualExclusion, right: MutualExclusion) -> Bool { left === right }

  /// Feeds the object's identity into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The name of the exclusion.
  public var description: String { name }
}
