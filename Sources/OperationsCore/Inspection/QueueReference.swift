// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

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
