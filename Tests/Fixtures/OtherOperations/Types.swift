// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A type with the same name as a type of this library. Modules that use neither Foundation nor
/// this library may declare such types.
public struct Operation: Sendable {
  /// A property that distinguishes the type from the library's type.
  public let formula: String

  /// Creates one.
  public init(formula: String) { self.formula = formula }
}

/// See `Operation`.
public struct QualityOfService: Sendable {
  /// A property that distinguishes the type from the library's type.
  public let bitsPerSecond: Int

  /// Creates one.
  public init(bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }
}

/// See `Operation`.
public final class AsyncOperation {
  /// A property that distinguishes the type from the library's type.
  public let formula = "async"

  /// Creates one.
  public init() {}
}

/// See `Operation`.
public final class GroupOperation {
  /// A property that distinguishes the type from the library's type.
  public let formula = "group"

  /// Creates one.
  public init() {}
}

/// See `Operation`.
public enum State: Sendable { case open, shut }

/// See `Operation`.
public enum OperationState: Sendable { case open, shut }
