// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Why a finished ``InvocationOperation`` has no result to give.
///
/// Source: Apple, "NSInvocationOperation", "Result Exceptions".
public struct InvocationOperationError: Error, Hashable, CustomStringConvertible {
  /// Which reason.
  public enum Code: Sendable, Hashable {
    /// The operation was cancelled before its body ran; it never will.
    case cancelled
    /// The body returns `Void`: that it has returned is all there is to know.
    case voidResult
  }

  /// Which reason.
  public let code: Code

  /// An error for the given reason.
  public init(code: Code) { self.code = code }

  /// Foundation's `NSInvocationOperationCancelledException`.
  public static let cancelled = InvocationOperationError(code: .cancelled)

  /// Foundation's `NSInvocationOperationVoidResultException`.
  public static let voidResult = InvocationOperationError(code: .voidResult)

  /// The reason as one sentence, for people.
  public var description: String {
    switch code {
    case .cancelled: "The operation was cancelled before it ran, so it has no result."
    case .voidResult: "The operation's body returns nothing, so it has no result."
    }
  }
}
