// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Identifies an operation for the life of the process. Never used again.
public struct OperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// A number that counts up from 1 in the order in which identifiers were first read.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether `left` was given out before `right`.
  public static func < (left: OperationID, right: OperationID) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The number after a `#`.
  public var description: String { "#\(rawValue)" }

  private static let last = Atomic<UInt64>(0)

  static func next() -> OperationID {
    OperationID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}

/// Identifies a queue for the life of the process. Never used again.
public struct QueueID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// A number that counts up from 1 in the order in which queues were created.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether `left` was created before `right`.
  public static func < (left: QueueID, right: QueueID) -> Bool { left.rawValue < right.rawValue }

  /// The number after `queue `.
  public var description: String { "queue \(rawValue)" }

  private static let last = Atomic<UInt64>(0)

  static func next() -> QueueID {
    QueueID(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }
}
