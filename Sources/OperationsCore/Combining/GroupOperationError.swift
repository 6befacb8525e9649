// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Operations of a ``GroupOperation`` have failed.
public struct GroupOperationError: Error, CustomStringConvertible {
  /// What they have failed with, in the order in which they finished. Never empty.
  public let errors: [any Error]

  /// The errors as one sentence, for people.
  public var description: String {
    let first = errors.first.map { "\($0)" } ?? ""
    return errors.count == 1
      ? "An operation of the group has failed: \(first)"
      : "\(errors.count) operations of the group have failed, the first one thus: \(first)"
  }
}
