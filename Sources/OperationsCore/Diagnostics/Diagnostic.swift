// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Synchronization

/// Something that is allowed and probably not what its author meant.
///
/// Unlike with ``Misuse`` the call has its documented effect, or none, and the program goes on. By
/// default the first one of each kind is printed on the standard error stream, in one line.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  /// What is odd.
  public enum Kind: Int, Sendable, CaseIterable {
    /// `completionBlock` was set on an operation that has finished: it will not run.
    case completionBlockAfterFinish
    /// `didChangeValue` came for an observed property without `willChangeValue` before it.
    case didChangeWithoutWillChange
    /// A property of ``OperationQueue/main`` was set that is fixed: it stays as it is.
    case setsFixedPropertyOfMainQueue
    /// A value of ``WorkerConfiguration/current`` is outside its range: the default is used.
    case invalidWorkerConfiguration
    /// ``WorkerConfiguration/current`` was set after the first queue was created: it has no effect.
    case workerConfigurationIsFixed
    /// There may be no more threads, and operations that could start wait for one. Reported once.
    case threadLimitReached
    /// The system did not start a thread. The threads that there are do the work, and it is tried again.
    /// Reported once.
    case threadNotStarted
  }

  /// What is odd.
  public let kind: Kind
  /// What happened and to what, in one sentence.
  public let description: String

  /// What to do with each; `nil`, the default, prints the first one of each kind.
  ///
  /// Process-wide. Called on the thread that did it, outside every lock of this library, perhaps
  /// under one of a subclass's. Must not block.
  public static var handler: (@Sendable (Diagnostic) -> Void)? {
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

  private static let currentHandler = Locked<(@Sendable (Diagnostic) -> Void)?>(nil)
  /// One bit for each kind that has been printed.
  private static let printed = Atomic<Int>(0)

  /// The one way in which such things are reported.
  static func note(_ kind: Kind, _ message: @autoclosure () -> String) {
    if let handler { return handler(Diagnostic(kind: kind, description: message())) }
    let bit = 1 << kind.rawValue
    guard printed.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 else { return }
    printLine(message())
  }

  /// Prints a sentence on the standard error stream.
  static func printLine(_ message: String) {
    var line = "Operations: \(message)\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
