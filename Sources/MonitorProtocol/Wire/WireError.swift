// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Why bytes from the other side are not understood, or not accepted.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One sentence for a person, without a full stop.
  public let description: String

  /// Creates an error from its sentence.
  init(_ description: String) { self.description = description }
}
