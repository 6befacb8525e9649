// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// As a module of other people has them, which knows neither Foundation nor this library: types of
/// the names that this library has too.
public struct Operation: Sendable {
  /// What tells it from the library's.
  public let formula: String

  /// Creates one.
  public init(formula: String) { self.formula = formula }
}

/// See `Operation`.
public struct QualityOfService: Sendable {
  /// What tells it from the library's.
  public let bitsPerSecond: Int

  /// Creates one.
  public init(bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }
}

/// See `Operation`.
public final class AsyncOperation {
  /// What tells it from the library's.
  public let formula = "async"

  /// Creates one.
  public init() {}
}

/// See `Operation`.
public final class GroupOperation {
  /// What tells it from the library's.
  public let formula = "group"

  /// Creates one.
  public init() {}
}

/// See `Operation`.
public enum State: Sendable { case open, shut }

/// See `Operation`.
public enum OperationState: Sendable { case open, shut }
