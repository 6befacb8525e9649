// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The work of a ``TimeoutOperation`` has taken too long.
public struct OperationTimeoutError: Error, Hashable, CustomStringConvertible {
  /// How long it might have taken.
  public let limit: Duration

  /// An error for that limit.
  public init(limit: Duration) { self.limit = limit }

  /// The reason as one sentence, for people.
  public var description: String { "The operation has not finished within \(limit)." }
}
