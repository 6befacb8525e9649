// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A caller's mistake, where Foundation raises `NSInvalidArgumentException` or traps.
///
/// By default the message is printed and the process traps. A test may install a handler; where
/// that returns, the call that was wrong has no effect.
public struct Misuse: Sendable, Equatable, CustomStringConvertible {
  /// Which mistake.
  public enum Kind: Sendable, Equatable {
    /// `start()` on an operation that executes.
    case receiverAlreadyExecuting
    /// `start()` on an operation that is not ready.
    case receiverNotReady
    /// `start()` while another thread is in `start()`.
    case simultaneousStart
    /// `start()` by hand on an operation that is in a queue.
    case startOfEnqueuedOperation
    /// Adding an operation that is or was in a queue, executes or has finished.
    case cannotEnqueue
    /// `addDependency(_:)` with the receiver itself.
    case selfDependency
    /// A `maxConcurrentOperationCount` below −1.
    case negativeWidth
    /// `addExecutionBlock(_:)` on an operation that executes or has finished.
    case addsBlockAfterStart
    /// `waitUntilFinished()` from inside the operation itself.
    case waitOnSelf
    /// `waitUntilAllOperationsAreFinished()` from inside one of the queue's own operations.
    case waitInsideOwnQueue
    /// `value(forKey:)` for a key that the class does not have.
    case undefinedKey
    /// `removeObserver` for one that was not added.
    case observerNotRegistered
  }

  /// Which mistake.
  public let kind: Kind
  /// What happened and to what, in one sentence.
  public let description: String

  /// What to do with a mistake; `nil`, the default, prints it and traps.
  ///
  /// Process-wide. Called on the thread that made the mistake, outside every lock. Where it
  /// returns, the mistaken call has no effect.
  public static var handler: (@Sendable (Misuse) -> Void)? {
    get { currentHandler.withLock { $0 } }
    set {
      // The old one is released after the lock: its captures may have a `deinit` of the user's.
      let replaced = currentHandler.withLock { handler in
        defer { handler = newValue }
        return handler
      }
      withExtendedLifetime(replaced) {}
    }
  }

  private static let currentHandler = Locked<(@Sendable (Misuse) -> Void)?>(nil)

  /// The one way in which misuse is reported.
  static func raise(_ kind: Kind, _ message: String) {
    let misuse = Misuse(kind: kind, description: message)
    guard let handler else { fatalError("*** NSInvalidArgumentException: \(message)") }
    handler(misuse)
  }
}
