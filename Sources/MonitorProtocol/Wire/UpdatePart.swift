// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of an ``Update`` that fits into one message.
///
/// ``UpdateParts`` divides an update, and ``UpdateAssembler`` joins the parts.
public struct UpdatePart: Sendable, Equatable {
  /// Dependencies of one operation that did not fit into the previous part.
  struct MoreDependencies: Sendable, Equatable {
    /// The operation, which was the last one in the previous part.
    var operation: OperationReport.ID
    /// The dependencies after those in the previous parts.
    var dependencies: [OperationReport.ID]
  }

  /// The contents of this part. The first part has all values that are not lists.
  var content: Update
  /// Dependencies to append before the contents; `nil` if there are none.
  var moreDependencies: MoreDependencies?
  /// Whether this is the first part.
  var isFirst: Bool
  /// Whether this part completes the update.
  var isLast: Bool
  /// The number of bytes in which it was received; 0 if it was not received. Ignored when parts are
  /// compared.
  var byteCount = 0

  /// Whether both parts have the same contents.
  public static func == (left: UpdatePart, right: UpdatePart) -> Bool {
    left.content == right.content && left.moreDependencies == right.moreDependencies
      && left.isFirst == right.isFirst && left.isLast == right.isLast
  }
}
