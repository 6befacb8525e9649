// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Something about queues or operations that probably is not meant.
public struct MonitorWarning: Sendable, Hashable {
  /// What is the matter. The raw value is the word for options and JSON.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// Each of ``operations`` waits for the next one, and the last for the first.
    case cycle
    /// ``operations`` have all slots of ``queue`` and wait inside for ``awaited``, which need one.
    case slotDeadlock = "slot-deadlock"
    /// ``operations`` wait for ``awaited``, which is in no queue and has not been started.
    case neverEnqueuedDependency = "never-enqueued-dependency"
    /// ``operations`` were asked to cancel 3 s ago or earlier, and still run.
    case cancelNotHonoured = "cancel-not-honoured"
    /// ``operations`` wait though their dependencies are met: the `isReady` of their own class has said
    /// no for 3 s or longer; the longest first.
    case notReadyWithMetDependencies = "not-ready-with-met-dependencies"
    /// ``queue`` is the main queue, and has had ready operations and run none for 250 ms or longer: the
    /// main thread is busy, or does not serve the queue.
    case mainQueueBlocked = "main-queue-blocked"
    /// ``count`` operations finished, without having been cancelled, before their queue had started them;
    /// ``operations`` are the last of them, the newest first, which finished at ``since``.
    case finishedWithoutStart = "finished-without-start"
    /// ``operations``, of high or very high priority, wait directly for ``awaited``, which have been ready
    /// for 1 s or longer, have a priority below normal, and are behind others in their queue that nothing
    /// of high priority waits for. ``count`` is the number of the awaited ones.
    case priorityInversion = "priority-inversion"
    /// ``queue`` has been suspended for 10 s or longer, and holds ready operations.
    case suspendedWithReady = "suspended-with-ready"
    /// ``queue``, which is not the main queue, has had ready operations and free slots for 200 ms or
    /// longer.
    case readyButNotStarted = "ready-but-not-started"
    /// ``operations`` have run for more than 1.5 times ``usual``, which is what 99 of 100 of their class
    /// took at most, and of which there were 20 or more lately; the longest first.
    case slow
    /// More than 10,000 operations depend on the one of ``operations``.
    case fanOut = "fan-out"
    /// ``count`` steps of operations are missing in the events that the viewer was told of, ever: see
    /// ``Update/lostChanges``. States are exact all the same.
    case historyLost = "history-lost"
    /// ``operations`` still exist 60 s after their finish, the first of which was at ``since``, and
    /// nothing that depends on them is what holds them. Told of only where a viewer asks for it.
    case leaking
    /// All ``limit`` threads that there may be are in use, and ``count`` queues with ready operations wait
    /// for one, since ``since``.
    case threadLimit = "thread-limit"

    /// Whether what it says will not pass by itself.
    public var isDeadlock: Bool {
      switch self {
      case .cycle, .slotDeadlock, .neverEnqueuedDependency: true
      case .cancelNotHonoured, .notReadyWithMetDependencies, .mainQueueBlocked,
        .finishedWithoutStart, .priorityInversion, .suspendedWithReady, .readyButNotStarted, .slow,
        .fanOut, .historyLost, .leaking, .threadLimit:
        false
      }
    }

    /// The kinds that are told of where nobody says otherwise.
    public static let usual = Set(allCases).subtracting([.leaking])
  }

  /// More operations than these are not named in a warning; ``count`` is exact all the same.
  public static let operationLimit = 100

  /// What is the matter.
  public var kind: Kind
  /// The operations that it is about, in the order that the kind says.
  public var operations: [OperationReport.ID]
  /// What the first of ``operations`` is called, where it may no longer be kept; unsanitised.
  public var title: String
  /// What these wait for, where the kind says so.
  public var awaited: [OperationReport.ID]
  /// What the first of ``awaited`` is called, where it is in no queue; unsanitised.
  public var awaitedTitle: String
  /// The queue that it is about; `nil` where it is not about one.
  public var queue: QueueReport.ID?
  /// How many operations are concerned, or queues if the kind says so; for deadlocks how many more wait
  /// because of it.
  public var count: Int
  /// How many there may be, if the kind says of what; else 0.
  public var limit: Int
  /// Since when; `nil` where that is not known.
  public var since: MonitorTime?
  /// How long it usually takes what the first of ``operations`` does, where the kind says so.
  public var usual: Duration?
  /// The number of the process that warns, where several are watched as one; else `nil`. No process says so.
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

  /// Whether it will not pass by itself.
  public var isDeadlock: Bool { kind.isDeadlock }
}

/// What makes two warnings of two updates the same one.
package struct WarningIdentity: Hashable {
  let kind: MonitorWarning.Kind
  let operation: OperationReport.ID?
  let awaited: OperationReport.ID?
  let queue: QueueReport.ID?

  /// The identity of a warning.
  package init(_ warning: MonitorWarning) {
    kind = warning.kind
    operation = warning.operations.first
    awaited = warning.awaited.first
    queue = warning.queue
  }
}
