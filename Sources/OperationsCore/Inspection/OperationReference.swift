// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Names an operation, without keeping it alive.
public struct OperationReference: Hashable, Sendable, CustomStringConvertible {
  /// See `Operation.id`.
  public let id: OperationID
  /// What the operation was called when it was looked at; `nil` for nothing.
  public let name: String?

  /// Takes the operation's lock for a moment.
  init(_ operation: Operation) {
    id = operation.id
    name = operation.givenName
  }

  /// The number, and the name where there is one.
  public var description: String { name.map { "\(id) “\($0)”" } ?? "\(id)" }
}

/// Names a queue, without keeping it alive.
public struct QueueReference: Hashable, Sendable, CustomStringConvertible {
  /// See `OperationQueue.id`.
  public let id: QueueID
  /// What the queue was called when it was looked at.
  public let name: String

  /// Takes the queue's lock for a moment.
  init(_ queue: OperationQueue) {
    id = queue.id
    name = queue.givenName
  }

  /// The name in quotes.
  public var description: String { "“\(name)”" }
}
