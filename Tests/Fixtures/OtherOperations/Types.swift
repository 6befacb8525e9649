// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A type with the same name as a type of this library. Modules that use neither Foundation nor
/// this library may declare such types.
public struct Operation: Sendable {
  /// A property that the library's type of the same name does not have.
  public let formula: String

  /// Creates a value of this type.
  public init(formula: String) { self.formula = formula }
}

/// Like `Operation` in this file, a type with the same name as a type of this library.
public struct QualityOfService: Sendable {
  /// A property that the library's type of the same name does not have.
  public let bitsPerSecond: Int

  /// Creates a value of this type.
  public init(bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }
}

/// Like `Operation` in this file, a type with the same name as a type of this library.
public final class AsyncOperation {
  /// A property that the library's type of the same name does not have.
  public let formula = "async"

  /// Creates a value of this type.
  public init() {}
}

/// Like `Operation` in this file, a type with the same name as a type of this library.
public final class GroupOperation {
  /// A property that the library's type of the same name does not have.
  public let formula = "group"

  /// Creates a value of this type.
  public init() {}
}

/// Like `Operation` in this file, a type with the same name as a type of this library.
public enum State: Sendable { case open, shut }

/// Like `Operation` in this file, a type with the same name as a type of this library.
public enum OperationState: Sendable { case open, shut }
