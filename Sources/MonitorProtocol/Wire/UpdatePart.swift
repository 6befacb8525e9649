// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of an ``Update``, as one frame holds it.
///
/// ``UpdateParts`` takes an update apart, and ``UpdateAssembler`` puts it together.
public struct UpdatePart: Sendable, Equatable {
  /// Dependencies of one operation that did not fit into the part before.
  struct MoreDependencies: Sendable, Equatable {
    /// The operation, which came last in the part before.
    var operation: OperationReport.ID
    /// Those that follow the ones that it had there.
    var dependencies: [OperationReport.ID]
  }

  /// What this part has of the update; the first part has all that is not a list.
  var content: Update
  /// What is to be appended before anything of the content; `nil` where nothing is.
  var moreDependencies: MoreDependencies?
  /// Whether this is the first one.
  var isFirst: Bool
  /// Whether the update is complete with it.
  var isLast: Bool
  /// How many bytes it came in; 0 where it has not come. Of no account when parts are compared.
  var byteCount = 0

  /// Whether both say the same.
  public static func == (left: UpdatePart, right: UpdatePart) -> Bool {
    left.content == right.content && left.moreDependencies == right.moreDependencies
      && left.isFirst == right.isFirst && left.isLast == right.isLast
  }
}
