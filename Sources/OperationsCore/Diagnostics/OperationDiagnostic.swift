// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// A use of the library that is allowed but probably a mistake.
///
/// Unlike with ``OperationMisuse``, the call has its documented effect, or none, and the program continues.
/// By default, the first diagnostic of each kind is printed to the standard error stream, in one
/// line.
public struct OperationDiagnostic: Sendable, Equatable, CustomStringConvertible {
  /// The kind of a diagnostic. Later versions of the library may add kinds.
  public struct Kind: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// `completionBlock` was set on an operation that has finished: it will not run.
    public static let completionBlockAfterFinish = Kind("completionBlockAfterFinish")
    /// `didChangeValue` was called for an observed property without `willChangeValue` before it.
    public static let didChangeWithoutWillChange = Kind("didChangeWithoutWillChange")
    /// A fixed property of ``OperationQueue/main`` was set. It is unchanged.
    public static let setsFixedPropertyOfMainQueue = Kind("setsFixedPropertyOfMainQueue")
    /// A value of ``WorkerConfiguration/current`` is outside its range. The default is used.
    public static let invalidWorkerConfiguration = Kind("invalidWorkerConfiguration")
    /// ``WorkerConfiguration/current`` was set after the first queue was created. It has no effect.
    public static let workerConfigurationIsFixed = Kind("workerConfigurationIsFixed")
    /// The maximum number of threads is in use, and ready operations wait for a thread. Reported
    /// once.
    public static let threadLimitReached = Kind("threadLimitReached")
    /// The system failed to start a thread. The existing threads do the work, and the pool tries
    /// again. Reported once.
    public static let threadNotStarted = Kind("threadNotStarted")
    /// A task has waited for one second for an operation that was neither added to a queue nor started.
    /// The wait ends only if the program adds or starts the operation.
    public static let awaitsOperationInNoQueue = Kind("awaitsOperationInNoQueue")

    /// An operation, a block or a barrier was added to a queue that is closed. The operation is cancelled
    /// with an ``OperationQueueClosedError``, and the block does not run.
    public static let addsToClosedQueue = Kind("addsToClosedQueue")
    /// `shutdown()` was called on ``OperationQueue/main``, which cannot be closed. The call has no effect.
    public static let shutsDownMainQueue = Kind("shutsDownMainQueue")

    /// All kinds that this version of the library reports.
    public static let allCases: [Kind] = [
      .completionBlockAfterFinish,
      .didChangeWithoutWillChange,
      .setsFixedPropertyOfMainQueue,
      .invalidWorkerConfiguration,
      .workerConfigurationIsFixed,
      .threadLimitReached,
      .threadNotStarted,
      .awaitsOperationInNoQueue,
      .addsToClosedQueue,
      .shutsDownMainQueue,
    ]

    /// The name of the kind, such as "threadLimitReached".
    public let description: String

    private init(_ name: String) { description = name }
  }

  /// The kind of the diagnostic.
  public let kind: Kind
  /// What happened, in one sentence that names the operation or queue.
  public let description: String

  /// Called with each diagnostic. If the handler is `nil`, which is the default, the first
  /// diagnostic of each kind is printed.
  ///
  /// The handler is process-wide. It is called on the thread that caused the diagnostic, or on a
  /// thread of the library, outside every lock of this library, but possibly under a lock of a
  /// subclass. The handler must not block.
  public static var handler: (@Sendable (OperationDiagnostic) -> Void)? {
    get { handlerSlot.handler }
    set { handlerSlot.replace(with: newValue) }
  }

  private static let handlerSlot = ReportHandler<OperationDiagnostic>()
  /// The kinds of diagnostics that were printed.
  private static let printed = Locked<Set<Kind>>([])

  /// Reports a diagnostic. Every diagnostic passes through this function.
  static func note(_ kind: Kind, _ message: @autoclosure () -> String) {
    if let handler { return handler(OperationDiagnostic(kind: kind, description: message())) }
    guard printed.withLock({ $0.insert(kind).inserted }) else { return }
    printLine(message())
  }

  /// Prints a sentence to the standard error stream.
  static func printLine(_ message: String) {
    var line = "Operations: \(message)\n"
    line.withUTF8 { text in
      guard let start = text.baseAddress else { return }
      csystem_write_to_standard_error(start, text.count)
    }
  }
}
