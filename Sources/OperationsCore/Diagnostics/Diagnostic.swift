// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Synchronization

/// A use of the library that is allowed but probably a mistake.
///
/// Unlike with ``Misuse``, the call has its documented effect, or none, and the program continues.
/// By default, the first diagnostic of each kind is printed to the standard error stream, in one
/// line.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  /// The kind of a diagnostic.
  public enum Kind: Int, Sendable, CaseIterable {
    /// `completionBlock` was set on an operation that has finished: it will not run.
    case completionBlockAfterFinish
    /// `didChangeValue` was called for an observed property without `willChangeValue` before it.
    case didChangeWithoutWillChange
    /// A fixed property of ``OperationQueue/main`` was set. It is unchanged.
    case setsFixedPropertyOfMainQueue
    /// A value of ``WorkerConfiguration/current`` is outside its range. The default is used.
    case invalidWorkerConfiguration
    /// ``WorkerConfiguration/current`` was set after the first queue was created. It has no effect.
    case workerConfigurationIsFixed
    /// The maximum number of threads is in use, and ready operations wait for a thread. Reported
    /// once.
    case threadLimitReached
    /// The system failed to start a thread. The existing threads do the work, and the pool tries
    /// again. Reported once.
    case threadNotStarted
  }

  /// The kind of the diagnostic.
  public let kind: Kind
  /// What happened, in one sentence that names the operation or queue.
  public let description: String

  /// Called with each diagnostic. If the handler is `nil`, which is the default, the first
  /// diagnostic of each kind is printed.
  ///
  /// The handler is process-wide. It is called on the thread that caused the diagnostic, outside
  /// every lock of this library, but possibly under a lock of a subclass. The handler must not
  /// block.
  public static var handler: (@Sendable (Diagnostic) -> Void)? {
    get { currentHandler.withLock { $0 } }
    set {
      // The previous handler is released after the lock, because the objects that it captures may
      // have a `deinit` of the user.
      let replaced = currentHandler.withLock { handler in
        defer { handler = newValue }
        return handler
      }
      withExtendedLifetime(replaced) {}
    }
  }

  private static let currentHandler = Locked<(@Sendable (Diagnostic) -> Void)?>(nil)
  /// The kinds of diagnostics that were printed, one bit for each kind.
  private static let printed = Atomic<Int>(0)

  /// Reports a diagnostic. Every diagnostic passes through this function.
  static func note(_ kind: Kind, _ message: @autoclosure () -> String) {
    if let handler { return handler(Diagnostic(kind: kind, description: message())) }
    let bit = 1 << kind.rawValue
    guard printed.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 else { return }
    printLine(message())
  }

  /// Prints a sentence to the standard error stream.
  static func printLine(_ message: String) {
    var line = "Operations: \(message)\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
