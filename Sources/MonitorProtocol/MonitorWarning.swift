// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A condition of queues or operations that probably is a mistake.
public struct MonitorWarning: Sendable, Hashable {
  /// The kind of a warning. The raw value is the name of the kind in command-line options and JSON.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// Each operation in ``operations`` waits for the next operation in the list, and the last
    /// operation waits for the first.
    case cycle
    /// The operations in ``operations`` hold all slots of ``queue``. The first operations in
    /// ``awaited`` are those that their code waits for: one for each operation in ``operations``, in
    /// the same order, so an operation may occur several times. If such an operation only waits for others that need a slot of this queue, these
    /// others follow.
    case slotDeadlock = "slot-deadlock"
    /// The operations in ``operations`` wait for the operation in ``awaited``, which is not in a
    /// queue and was not started.
    case neverEnqueuedDependency = "never-enqueued-dependency"
    /// The operations in ``operations`` still run 3 s or longer after they were asked to cancel.
    case cancelNotHonoured = "cancel-not-honoured"
    /// The operations in ``operations`` wait although their dependencies are finished, because
    /// their own `isReady` has returned `false` for 3 s or longer. The operation with the longest
    /// wait comes first.
    case notReadyWithMetDependencies = "not-ready-with-met-dependencies"
    /// The main queue has had ready operations for 250 ms or longer and has executed no operation
    /// in this time. The main thread is busy, or it does not serve the queue. ``queue`` is the main
    /// queue.
    case mainQueueBlocked = "main-queue-blocked"
    /// Operations finished before their queue had started them, and they were not cancelled.
    /// ``count`` is the number of such operations. ``operations`` are the last such operations, the
    /// newest first. The newest of these operations finished at ``since``.
    case finishedWithoutStart = "finished-without-start"
    /// The operations in ``operations`` have a high or very high priority and depend directly on
    /// the operations in ``awaited``. The awaited operations have been ready for 1 s or longer and
    /// have a priority below normal. The queue of an awaited operation starts other operations
    /// first, although no operation of high priority waits for these other operations. ``count`` is
    /// the number of awaited operations.
    case priorityInversion = "priority-inversion"
    /// The queue in ``queue`` has been suspended for 10 s or longer and has ready operations.
    case suspendedWithReady = "suspended-with-ready"
    /// The queue in ``queue``, which is not the main queue, has had both ready operations and free
    /// slots for 200 ms or longer. It does not wait for its limit of starts.
    case readyButNotStarted = "ready-but-not-started"
    /// The operations in ``operations`` have run for more than 1.5 times the usual time of their
    /// kind. The usual time, ``usual``, is the 99th percentile of the recent run times of the
    /// kind. At least 20 operations of the kind have finished recently. The operation with the
    /// longest run comes first.
    case slow
    /// More than 10,000 operations depend on the operation in ``operations``.
    case fanOut = "fan-out"
    /// Some state changes are missing from the events that the viewer received; see
    /// ``Update/lostChanges``. ``count`` is their number since the start. The states of operations
    /// are exact nevertheless.
    case historyLost = "history-lost"
    /// The operations in ``operations`` still exist 60 s after they finished, although no dependent
    /// holds them. The first of these operations finished at ``since``. The monitor sends this kind
    /// only to viewers that request it.
    case leaking
    /// All threads of the pool are in use, and queues with ready operations have been waiting for a
    /// thread since ``since``. ``limit`` is the number of threads. ``count`` is the number of
    /// waiting queues.
    case threadLimit = "thread-limit"

    /// Whether a condition of this kind is a deadlock, which never ends by itself.
    public var isDeadlock: Bool {
      switch self {
      case .cycle, .slotDeadlock, .neverEnqueuedDependency: true
      case .cancelNotHonoured, .notReadyWithMetDependencies, .mainQueueBlocked,
        .finishedWithoutStart, .priorityInversion, .suspendedWithReady, .readyButNotStarted, .slow,
        .fanOut, .historyLost, .leaking, .threadLimit:
        false
      }
    }

    /// The kinds of warnings that viewers request by default.
    public static let usual = Set(allCases).subtracting([.leaking])
  }

  /// The maximum number of operations that a warning names. ``count`` is always exact.
  public static let operationLimit = 100

  /// The kind of the warning.
  public var kind: Kind
  /// The operations that the warning is about, in the order that the kind defines.
  public var operations: [OperationReport.ID]
  /// The name of the first of ``operations``, if the monitor may no longer keep that operation;
  /// otherwise empty. The name is unsanitised.
  public var title: String
  /// The operations that the operations in ``operations`` wait for; empty if the kind defines no
  /// such operations.
  public var awaited: [OperationReport.ID]
  /// The name of the first of ``awaited``, if that operation is not in a queue; otherwise empty.
  /// The name is unsanitised.
  public var awaitedTitle: String
  /// The queue that the warning is about; `nil` if it is not about a queue.
  public var queue: QueueReport.ID?
  /// The number of affected operations or queues, as the kind defines. For a deadlock, this is the
  /// number of further operations that wait because of the deadlock.
  public var count: Int
  /// The limit that was reached, if the kind defines a limit; otherwise 0.
  public var limit: Int
  /// The time at which the condition began; `nil` if unknown.
  public var since: MonitorTime?
  /// The usual run time of the kind of the first of ``operations``; `nil` if the kind defines no
  /// usual time.
  public var usual: Duration?
  /// The number of the process, if a viewer watches several processes as one; otherwise `nil`. The
  /// viewer sets this value; a process does not send it.
  public var process: Int?

  /// Creates a warning.
  public init(
    kind: Kind, operations: [OperationReport.ID] = [], title: String = "",
    awaited: [OperationReport.ID] = [],
    awaitedTitle: String = "", queue: QueueReport.ID? = nil, count: Int = 0,
    since: MonitorTime? = nil, usual: Duration? = nil, limit: Int = 0
  ) {
    self.kind = kind
    self.operations = Array(operations.prefix(Self.operationLimit))
    self.title = title
    self.awaited = Array(awaited.prefix(Self.operationLimit))
    self.awaitedTitle = awaitedTitle
    self.queue = queue
    self.count = count
    self.since = since
    self.usual = usual
    self.limit = limit
  }

  /// Whether the condition is a deadlock, which never ends by itself.
  public var isDeadlock: Bool { kind.isDeadlock }

  /// The operations in ``awaited``, each of them once.
  package var distinctAwaited: [OperationReport.ID] {
    var seen: Set<OperationReport.ID> = []
    return awaited.filter { seen.insert($0).inserted }
  }

  /// The operations that a viewer marks as operations with a warning: ``operations``, and in a
  /// priority inversion also ``awaited``, because the priority of these operations should be raised.
  package var markedOperations: [OperationReport.ID] {
    kind == .priorityInversion ? operations + awaited : operations
  }
}

/// The values that identify the same warning in two updates.
package struct WarningIdentity: Hashable {
  package let kind: MonitorWarning.Kind
  let operation: OperationReport.ID?
  let awaited: OperationReport.ID?
  package let queue: QueueReport.ID?
  package let process: Int?

  /// Creates the identity of a warning.
  package init(_ warning: MonitorWarning) {
    kind = warning.kind
    operation = warning.operations.first
    awaited = warning.awaited.first
    queue = warning.queue
    process = warning.process
  }
}
