// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The number of threads that execute the operations of all queues, and the size of their stacks.
///
/// A configuration applies to all queues of the process except those with an
/// ``OperationQueue/underlyingQueue``. Set ``current`` before the first queue is created:
///
/// ```swift
/// WorkerConfiguration.current = WorkerConfiguration(processorCount: 4, threadLimit: 64)
/// ```
///
/// A value that is `nil` is read from an environment variable: `OPQ_PROCESSORS`, `OPQ_THREADS` or
/// `OPQ_STACK_SIZE`. The variable contains a whole number in the range of its property. If the
/// variable is not set, the default applies. A variable with any other content is ignored, and a
/// message about it is printed to the standard error stream when the first queue is created. A
/// process that runs with the privileges of another user ignores the environment.
public struct WorkerConfiguration: Sendable, Equatable {
  /// The number of operations of default-width queues that execute at the same time if none of them
  /// blocks: 1 to 4,096, and at most ``threadLimit``.
  ///
  /// The default is the number of processors that the process may use: those of the affinity mask of its
  /// first thread (`sched_getaffinity`), or the CPU quota of its control groups, rounded up, if that is
  /// less. Both are read once, when the first queue is created.
  public var processorCount: Int?
  /// The maximum number of threads of all queues together: 1 to 32,768. One further thread may run
  /// completion blocks, and another one the library's own work.
  ///
  /// The default is 512, or, if greater, the largest ``OperationQueue/maxConcurrentOperationCount``
  /// of a queue that has waited for a thread, plus the number of processors. `Int.max` does not
  /// count.
  ///
  /// With a limit below the widths of queues, fewer operations execute at the same time than the
  /// widths allow. If more operations than the limit wait for one another, they wait forever. While
  /// all threads are in use, a completion block that waits for another completion block waits
  /// forever too.
  public var threadLimit: Int?
  /// The size of a thread's stack, in bytes: 65,536 to 1,073,741,824. The default is that of the
  /// system, usually 8 MiB (`ulimit -s`).
  public var stackSize: Int?

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - processorCount: The value of ``processorCount``.
  ///   - threadLimit: The value of ``threadLimit``.
  ///   - stackSize: The value of ``stackSize``.
  public init(processorCount: Int? = nil, threadLimit: Int? = nil, stackSize: Int? = nil) {
    self.processorCount = processorCount
    self.threadLimit = threadLimit
    self.stackSize = stackSize
  }

  /// The configuration of this process. It can be read and set on any thread.
  ///
  /// Before the process creates its first queue, this property contains the configuration that was
  /// set. After that, it contains the values that are in use. Setting it then has no effect and is
  /// reported as an ``OperationDiagnostic/Kind/workerConfigurationIsFixed``.
  ///
  /// A value outside its range is replaced by `nil`, and reported as a
  /// ``OperationDiagnostic/Kind/invalidWorkerConfiguration``.
  public static var current: WorkerConfiguration {
    get { settings.withLock { $0.configuration } }
    set {
      var configuration = newValue
      let invalid = Setting.allCases.filter { setting in
        guard let value = newValue[setting], !setting.range.contains(value) else { return false }
        configuration[setting] = nil
        return true
      }
      let isFixed = settings.withLock { settings in
        if !settings.isFixed { settings.configuration = configuration }
        return settings.isFixed
      }
      // The values are reported after the lock is released, because the report may call a handler
      // of the program.
      for setting in invalid {
        OperationDiagnostic.note(
          .invalidWorkerConfiguration,
          "\(setting.name) of WorkerConfiguration is \(newValue[setting] ?? 0), which is not in the "
            + "range \(setting.range.lowerBound) to \(setting.range.upperBound); the default is used."
        )
      }
      if isFixed {
        OperationDiagnostic.note(
          .workerConfigurationIsFixed,
          "WorkerConfiguration.current was set after a queue was created: it has no effect."
        )
      }
    }
  }

  private struct Settings {
    var configuration = WorkerConfiguration()
    var isFixed = false
  }

  private static let settings = Locked(Settings())

  /// Whether the pool of the process has been created.
  static var isFixed: Bool { settings.withLock { $0.isFixed } }

  /// Returns the configuration that applies from now on. Called once, for the pool of the process.
  static func fix() -> WorkerPoolConfiguration {
    csystem_watch_forks()
    let requested = settings.withLock { settings in
      settings.isFixed = true
      return settings.configuration
    }
    let (resolved, faults) = WorkerPoolConfiguration.resolve(
      requested,
      environment: { csystem_secure_environment($0).map { String(cString: $0) } },
      availableProcessors: { AvailableProcessors.count() })
    // The messages are printed, and the program's handler of diagnostics is not called: the pool
    // does not exist yet, and the handler may add operations.
    for fault in faults { OperationDiagnostic.printLine(fault) }
    settings.withLock { settings in
      settings.configuration = WorkerConfiguration(
        processorCount: resolved.processorCount, threadLimit: resolved.threadLimit,
        stackSize: resolved.stackSize == 0 ? nil : resolved.stackSize)
    }
    return resolved
  }
}

extension WorkerConfiguration {
  enum Setting: CaseIterable {
    case processorCount, threadLimit, stackSize

    var name: String { "\(self)" }

    var variable: String {
      switch self {
      case .processorCount: "OPQ_PROCESSORS"
      case .threadLimit: "OPQ_THREADS"
      case .stackSize: "OPQ_STACK_SIZE"
      }
    }

    var range: ClosedRange<Int> {
      switch self {
      case .processorCount: 1...4_096
      case .threadLimit: 1...32_768
      case .stackSize: 65_536...1 << 30
      }
    }
  }

  subscript(setting: Setting) -> Int? {
    get {
      switch setting {
      case .processorCount: processorCount
      case .threadLimit: threadLimit
      case .stackSize: stackSize
      }
    }
    set {
      switch setting {
      case .processorCount: processorCount = newValue
      case .threadLimit: threadLimit = newValue
      case .stackSize: stackSize = newValue
      }
    }
  }
}
