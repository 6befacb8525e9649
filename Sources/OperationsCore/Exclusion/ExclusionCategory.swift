// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Something of which operations want to be the only ones at a time, in whatever queues they are: a
/// file, a connection, the right to ask the user something.
///
/// ```swift
/// extension ExclusionCategory {
///   static let catalogue: Self = "catalogue"
///   static let uploads = ExclusionCategory("uploads", limit: 3)
/// }
/// operation.exclusions = [.catalogue]
/// ```
public struct ExclusionCategory: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// What it is called. Two of the same name and the same limit are the same category.
  public let name: String
  /// How many operations of the category may execute at the same time; 1 or more.
  public let limit: Int

  /// Names a category.
  ///
  /// - Parameters:
  ///   - name: What it is called, for people too.
  ///   - limit: How many operations may have it at the same time. Less than 1 counts as 1.
  public init(_ name: String, limit: Int = 1) {
    self.name = name
    self.limit = max(1, limit)
  }

  /// A category of this name that one operation may have at a time.
  public init(stringLiteral name: String) { self.init(name) }

  /// The name.
  public var description: String { name }
}
