// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of an ``Update``, as one frame holds it.
public struct UpdatePart: Sendable, Equatable {
  /// What this part has of the update; the first part has all that is not a list.
  var content: Update
  /// Whether this is the first one.
  var isFirst: Bool
  /// Whether the update is complete with it.
  var isLast: Bool
}
