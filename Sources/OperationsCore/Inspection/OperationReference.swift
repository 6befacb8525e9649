// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Identifies an operation without keeping it alive.
public struct OperationReference: Hashable, Sendable, CustomStringConvertible {
  /// The operation's id; see `Operation.id`.
  public let id: OperationID
  /// The operation's name when the reference was created; `nil` if it had no name.
  public let name: String?

  /// Creates a reference to an operation. It acquires the operation's lock for a moment.
  init(_ operation: Operation) {
    id = operation.id
    name = operation.givenName
  }

  /// The operation's number, followed by its name if it has one.
  public var description: String { name.map { "\(id) “\($0)”" } ?? "\(id)" }
}

/// Identifies a queue without keeping it alive.
public struct QueueReference: Hashable, Sendable, CustomStringConvertible {
  /// The queue's id; see `OperationQueue.id`.
  public let id: QueueID
  /// The queue's name when the reference was created.
  public let name: String

  /// Creates a reference to a queue. It acquires the queue's lock for a moment.
  init(_ queue: OperationQueue) {
    id = queue.id
    name = queue.givenName
  }

  /// The queue's name in quotation marks.
  public var description: String { "“\(name)”" }
}
