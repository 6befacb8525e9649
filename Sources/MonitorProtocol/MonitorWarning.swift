// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A condition of queues or operations that probably is a mistake.
public struct MonitorWarning: Sendable, Hashable {
  /// The kind of a warning. The raw value is the word for options and JSON.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// Each of ``operations`` waits for the next one, and the last for the first.
    case cycle
    /// ``operations`` hold all slots of ``queue`` and wait in their code for ``awaited``, which
    /// need a slot.
    case slotDeadlock = "slot-deadlock"
    /// ``operations`` wait for ``awaited``, which is not in a queue and was not started.
    case neverEnqueuedDependency = "never-enqueued-dependency"
    /// ``operations`` were asked to cancel 3 s ago or earlier and still run.
    case cancelNotHonoured = "cancel-not-honoured"
    /// ``operations`` wait although their dependencies are finished: their own `isReady` has
    /// returned `false` for 3 s or longer. The longest wait comes first.
    case notReadyWithMetDependencies = "not-ready-with-met-dependencies"
    /// ``queue`` is the main queue. It has had ready operations and has executed none for 250 ms or
    /// longer: the main thread is busy, or does not serve the queue.
    case mainQueueBlocked = "main-queue-blocked"
    /// ``count`` operations finished, without having been cancelled, before their queue had started
    /// them. ``operations`` are the last of them, the newest first. The newest finished at
    /// ``since``.
    case finishedWithoutStart = "finished-without-start"
    /// ``operations``, of high or very high priority, wait directly for ``awaited``, which have
    /// been ready for 1 s or longer, have a priority below normal, and are in their queue behind
    /// others that no operation of high priority waits for. ``count`` is the number of awaited
    /// operations.
    case priorityInversion = "priority-inversion"
    /// ``queue`` has been suspended for 10 s or longer, and holds ready operations.
    case suspendedWithReady = "suspended-with-ready"
    /// ``queue``, which is not the main queue, has had ready operations and free slots for 200 ms
    /// or longer.
    case readyButNotStarted = "ready-but-not-started"
    /// ``operations`` have run for more than 1.5 times ``usual``, the recent 99th percentile of
    /// their class. At least 20 operations of the class have finished recently. The longest run
    /// comes first.
    case slow
    /// More than 10,000 operations depend on the operation in ``operations``.
    case fanOut = "fan-out"
    /// ``count`` state changes since the start are missing from the viewer's events; see
    /// ``Update/lostChanges``. States are exact nevertheless.
    case historyLost = "history-lost"
    /// ``operations`` still exist 60 s after they finished, the first of them at ``since``, and no
    /// dependent is the reason. Only viewers that request this kind receive it.
    case leaking
    /// All ``limit`` threads of the pool are in use, and since ``since``, ``count`` queues with
    /// ready operations have been waiting for one.
    case threadLimit = "thread-limit"

    /// Whether the condition never ends without help.
    public var isDeadlock: Bool {
      switch self {
      case .cycle, .slotDeadlock, .neverEnqueuedDependency: true
      case .cancelNotHonoured, .notReadyWithMetDependencies, .mainQueueBlocked,
        .finishedWithoutStart, .priorityInversion, .suspendedWithReady, .readyButNotStarted, .slow,
        .fanOut, .historyLost, .leaking, .threadLimit:
        false
      }
    }

    /// The kinds that are sent by default.
    public static let usual = Set(allCases).subtracting([.leaking])
  }

  /// The maximum number of operations that a warning names. ``count`` is always exact.
  public static let operationLimit = 100

  /// The kind of the warning.
  public var kind: Kind
  /// The operations that the warning is about, in the order that the kind defines.
  public var operations: [OperationReport.ID]
  /// The name of the first of ``operations``, if that operation may no longer be kept; unsanitised.
  public var title: String
  /// The operations that these wait for, if the kind defines it.
  public var awaited: [OperationReport.ID]
  /// The name of the first of ``awaited``, if that operation is not in a queue; unsanitised.
  public var awaitedTitle: String
  /// The queue that the warning is about; `nil` if it is not about a queue.
  public var queue: QueueReport.ID?
  /// The number of affected operations or queues, as the kind defines. For a deadlock, the number
  /// of further operations that wait because of it.
  public var count: Int
  /// The maximum, if the kind defines one; otherwise 0.
  public var limit: Int
  /// The time since when the condition has lasted; `nil` if unknown.
  public var since: MonitorTime?
  /// The usual run time of the class of the first of ``operations``, if the kind defines it.
  public var usual: Duration?
  /// The number of the process, if several are watched as one; otherwise `nil`. Processes do not
  /// send it.
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

  /// Whether the condition never ends without help.
  public var isDeadlock: Bool { kind.isDeadlock }
}

/// The values that identify the same warning in two updates.
package struct WarningIdentity: Hashable {
  let kind: MonitorWarning.Kind
  let operation: OperationReport.ID?
  let awaited: OperationReport.ID?
  let queue: QueueReport.ID?

  /// Creates the identity of a warning.
  package init(_ warning: MonitorWarning) {
    kind = warning.kind
    operation = warning.operations.first
    awaited = warning.awaited.first
    queue = warning.queue
  }
}
