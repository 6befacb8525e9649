// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Identifies an operation without keeping it alive.
public struct OperationReference: Hashable, Sendable, CustomStringConvertible {
  /// See `Operation.id`.
  public let id: OperationID
  /// The operation's name at that moment; `nil` if it had none.
  public let name: String?

  /// Takes the operation's lock for a moment.
  init(_ operation: Operation) {
    id = operation.id
    name = operation.givenName
  }

  /// The number, and the name if there is one.
  public var description: String { name.map { "\(id) “\($0)”" } ?? "\(id)" }
}

/// Identifies a queue without keeping it alive.
public struct QueueReference: Hashable, Sendable, CustomStringConvertible {
  /// See `OperationQueue.id`.
  public let id: QueueID
  /// The queue's name at that moment.
  public let name: String

  /// Takes the queue's lock for a moment.
  init(_ queue: OperationQueue) {
    id = queue.id
    name = queue.givenName
  }

  /// The name in quotes.
  public var description: String { "“\(name)”" }
}
