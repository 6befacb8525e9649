// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A caller's mistake, where Foundation raises `NSInvalidArgumentException` or traps.
///
/// By default the message is printed and the process traps. Where that is not wanted, the first of
/// these that applies takes its place, and the call that was wrong has no effect:
///
/// 1. ``catching(_:)`` around the call, or one of the forms that throw:
///    ``OperationSupplement/tryStart()``, ``OperationQueueSupplement/tryAddOperation(_:)``,
///    ``OperationQueueSupplement/tryAddOperations(_:)``;
/// 2. a ``handler`` for the whole process.
public struct Misuse: Error, Equatable, CustomStringConvertible {
  /// Which mistake.
  public enum Kind: Sendable, Equatable, CaseIterable {
    /// `start()` on an operation that executes.
    case receiverAlreadyExecuting
    /// `start()` on an operation that is not ready.
    case receiverNotReady
    /// `start()` while another thread is in `start()`.
    case simultaneousStart
    /// `start()` by hand on an operation that is in a queue.
    case startOfEnqueuedOperation
    /// Adding an operation that is or was in a queue, executes or has finished, or the same one
    /// twice in a batch.
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
    /// Waiting on the main thread, or on the main dispatch queue, for what has yet to be started
    /// there.
    case waitOnMainThread
    /// Setting the `underlyingQueue` of a queue that has operations.
    case setsUnderlyingQueueWhileBusy
    /// Starting an ``AsyncOperation`` that was given no closure and whose class does not override
    /// ``AsyncOperation/run()``, or calling that a second time.
    case nothingToRun
  }

  /// Which mistake.
  public let kind: Kind
  /// What happened and to what, in one sentence.
  public let description: String

  /// What to do with a mistake that nobody catches; `nil`, the default, prints it and traps.
  ///
  /// Process-wide. Called on the thread that made the mistake, outside every lock of this library.
  /// Where it returns, the mistaken call has no effect. A test that wants to see mistakes is better
  /// off with ``catching(_:)``, which does not change what happens to those of other tests.
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

  /// Runs `body` and catches the mistakes that are made on this thread meanwhile: they neither trap
  /// nor reach the ``handler``.
  ///
  /// The body goes on after a mistake; the mistaken call has had no effect. What operations do on
  /// other threads is not caught. Of two such calls, one inside the other, the inner one catches.
  ///
  /// - Returns: The mistakes, in the order in which they were made.
  /// - Throws: What `body` throws; the mistakes up to then are dropped.
  public static func catching<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [Misuse] {
    try MisuseScope.run(body)
  }

  /// The one way in which misuse is reported.
  static func raise(_ kind: Kind, _ message: String) {
    let misuse = Misuse(kind: kind, description: message)
    if MisuseScope.take(misuse) { return }
    guard let handler else { fatalError("*** NSInvalidArgumentException: \(message)") }
    handler(misuse)
  }
}
