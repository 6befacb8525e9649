// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A mistake of a caller for which Foundation raises `NSInvalidArgumentException` or traps.
///
/// By default, the message is printed and the process traps. To handle mistakes differently, use
/// one of the following. If both apply to a mistake, the first one is used. The mistaken call then
/// has no effect:
///
/// 1. ``catching(_:)`` around the call, or one of the forms that throw:
///    ``OperationSupplement/tryStart()``, ``OperationQueueSupplement/tryAddOperation(_:)``,
///    ``OperationQueueSupplement/tryAddOperations(_:)``;
/// 2. a ``handler`` for the whole process.
public struct OperationMisuse: Error, Equatable, CustomStringConvertible {
  /// The kind of a mistake. Later versions of the library may add kinds.
  public struct Kind: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// A call of `start()` on an executing operation.
    public static let receiverAlreadyExecuting = Kind("receiverAlreadyExecuting")
    /// A call of `start()` on an operation that is not ready.
    public static let receiverNotReady = Kind("receiverNotReady")
    /// A call of `start()` while another thread is in `start()` of the same operation.
    public static let simultaneousStart = Kind("simultaneousStart")
    /// A direct call of `start()` on an operation that is in a queue.
    public static let startOfEnqueuedOperation = Kind("startOfEnqueuedOperation")
    /// Adding an operation that is or was in a queue, executes or has finished, or adding the same
    /// operation twice in a batch.
    public static let cannotEnqueue = Kind("cannotEnqueue")
    /// A call of `addDependency(_:)` that adds an operation as a dependency of itself.
    public static let selfDependency = Kind("selfDependency")
    /// Setting `maxConcurrentOperationCount` to a number below −1.
    public static let negativeWidth = Kind("negativeWidth")
    /// A call of `addExecutionBlock(_:)` on an operation that executes or has finished.
    public static let addsBlockAfterStart = Kind("addsBlockAfterStart")
    /// A call of `waitUntilFinished()` from inside the operation that it waits for.
    public static let waitOnSelf = Kind("waitOnSelf")
    /// A call of `waitUntilAllOperationsAreFinished()` from inside one of the queue's own
    /// operations.
    public static let waitInsideOwnQueue = Kind("waitInsideOwnQueue")
    /// A call of `value(forKey:)` for a key that the class does not have.
    public static let undefinedKey = Kind("undefinedKey")
    /// A call of `removeObserver` for an observer that was not added.
    public static let observerNotRegistered = Kind("observerNotRegistered")
    /// Waiting on the main thread, or on the main dispatch queue, for an operation that has not
    /// started and must start on the same thread or queue.
    public static let waitOnMainThread = Kind("waitOnMainThread")
    /// Setting the `underlyingQueue` of a queue with operations.
    public static let setsUnderlyingQueueWhileBusy = Kind("setsUnderlyingQueueWhileBusy")
    /// Starting an ``AsyncOperation`` that has no closure and whose class does not override
    /// ``AsyncOperation/run()``, or calling that method a second time.
    public static let nothingToRun = Kind("nothingToRun")
    /// Adding an operation through an ``OperationScope`` after its ``OperationQueueSupplement/withOperations(isolation:_:)``
    /// has returned.
    public static let scopeHasEnded = Kind("scopeHasEnded")

    /// All kinds that this version of the library reports.
    public static let allCases: [Kind] = [
      .receiverAlreadyExecuting,
      .receiverNotReady,
      .simultaneousStart,
      .startOfEnqueuedOperation,
      .cannotEnqueue,
      .selfDependency,
      .negativeWidth,
      .addsBlockAfterStart,
      .waitOnSelf,
      .waitInsideOwnQueue,
      .undefinedKey,
      .observerNotRegistered,
      .waitOnMainThread,
      .setsUnderlyingQueueWhileBusy,
      .nothingToRun,
      .scopeHasEnded,
    ]

    /// The name of the kind, such as "cannotEnqueue".
    public let description: String

    private init(_ name: String) { description = name }
  }

  /// The kind of the mistake.
  public let kind: Kind
  /// What happened, in one sentence that names the operation or queue.
  public let description: String

  /// Called with each uncaught mistake. If the handler is `nil`, which is the default, the mistake
  /// is printed and the process traps.
  ///
  /// The handler is process-wide. It is called on the thread that made the mistake, outside every
  /// lock of this library. If it returns, the mistaken call has no effect. In tests, prefer
  /// ``catching(_:)``, which does not affect mistakes of other tests.
  public static var handler: (@Sendable (OperationMisuse) -> Void)? {
    get { handlerSlot.handler }
    set { handlerSlot.replace(with: newValue) }
  }

  private static let handlerSlot = ReportHandler<OperationMisuse>()

  /// Runs `body`, and catches the mistakes that this thread makes in it. A caught mistake neither
  /// traps nor reaches the ``handler``.
  ///
  /// The body continues after a mistake, and the mistaken call has no effect. Mistakes of
  /// operations on other threads are not caught. If two calls are nested, the inner call catches
  /// the mistake.
  ///
  /// - Returns: The mistakes, in the order in which they were made.
  /// - Throws: The error of `body`. In this case the caught mistakes are dropped.
  public static func catching<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> [OperationMisuse] {
    try MisuseScope.run(body)
  }

  /// Reports a mistake. Every mistake passes through this function.
  static func raise(_ kind: Kind, _ message: String) {
    let misuse = OperationMisuse(kind: kind, description: message)
    if MisuseScope.take(misuse) { return }
    guard let handler else { fatalError("*** NSInvalidArgumentException: \(message)") }
    handler(misuse)
  }
}
