// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Identifies an operation for the life of the process. No later operation gets the same
/// identifier.
public struct OperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// A number that counts up from 1 in the order in which identifiers were first read.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Returns whether the identifier `left` was assigned to its operation before `right` was
  /// assigned.
  public static func < (left: OperationID, right: OperationID) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The identifier as text: the character `#` and the number, as in `#17`.
  public var description: String { "#\(rawValue)" }

  private static let last = Atomic<UInt64>(0)

  static func next() -> OperationID {
    OperationID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}

/// Identifies a queue for the life of the process. No later queue gets the same identifier.
public struct QueueID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// A number that counts up from 1 in the order in which queues were created.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Returns whether the queue of `left` was created before the queue of `right`.
  public static func < (left: QueueID, right: QueueID) -> Bool { left.rawValue < right.rawValue }

  /// The identifier as text: the word `queue` and the number, as in `queue 3`.
  public var description: String { "queue \(rawValue)" }

  private static let last = Atomic<UInt64>(0)

  static func next() -> QueueID {
    QueueID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}
