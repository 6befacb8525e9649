// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of an ``Update`` that fits into one message.
///
/// ``UpdateParts`` divides an update into parts, and ``UpdateAssembler`` joins them.
public struct UpdatePart: Sendable, Equatable {
  /// Dependencies of one operation that did not fit into the previous part.
  struct MoreDependencies: Sendable, Equatable {
    /// The id of the operation, which was the last operation in the previous part.
    var operation: OperationReport.ID
    /// The dependencies of the operation that no previous part of the update contains.
    var dependencies: [OperationReport.ID]
  }

  /// The contents of this part. Values that are not lists are only in the first part.
  var content: Update
  /// Further dependencies of the last operation of the previous part, which are appended before the
  /// contents; `nil` if all its dependencies are in the previous parts.
  var moreDependencies: MoreDependencies?
  /// Whether this is the first part of the update.
  var isFirst: Bool
  /// Whether this part completes the update.
  var isLast: Bool
  /// The number of bytes of the received part; 0 if the part was not received. Comparisons of parts
  /// ignore this number.
  var byteCount = 0

  /// Whether both parts have the same contents.
  public static func == (left: UpdatePart, right: UpdatePart) -> Bool {
    left.content == right.content && left.moreDependencies == right.moreDependencies
      && left.isFirst == right.isFirst && left.isLast == right.isLast
  }
}
