// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of one operation, as the monitor reports it.
public struct OperationReport: Sendable, Equatable, Identifiable {
  /// The id of an operation. The same process never uses an id for two operations.
  public struct ID: Codable, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The id as a number, for example 1042 for the operation that the screen shows as `#1042`.
    public let rawValue: UInt64

    /// Creates an identifier from its number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads an id from a decoder, as a number.
    public init(from decoder: any Decoder) throws {
      rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the id to an encoder, as a number.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(rawValue)
    }

    /// Whether the number of `left` is smaller than the number of `right`. An operation gets its id
    /// when the id is first needed, so this is not always the order in which operations were added.
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }

    /// The id as text, such as `#1042`. If several processes are watched, the number of the process
    /// comes first: `2#1042`.
    public var description: String {
      processNumber == 0 ? "#\(rawValue)" : "\(processNumber)#\(withinProcess.rawValue)"
    }
  }

  /// Identifies the operation.
  public let id: ID
  /// The name of the operation, unsanitised. The name may contain any characters and may be empty.
  public var name: String
  /// The name of the operation's Swift class, without the module.
  public var className: String
  /// The queue that the operation was added to.
  public var queue: QueueReport.ID
  /// The state of the operation.
  public var state: OperationState
  /// The priority of the operation among the ready operations of its queue.
  public var priority: OperationPriority
  /// The operations that this operation depends on, in the order in which the dependencies were
  /// added.
  public var dependencies: [ID]
  /// The number of dependencies that have not finished.
  public var unmetDependencyCount: Int
  /// Whether the operation's dependencies have finished, and the operation waits for other
  /// operations that use the same mutual exclusion.
  public var isExcluded: Bool
  /// The number of operations that depend on this operation, including finished operations that the
  /// monitor still keeps.
  public var dependentCount: Int
  /// The time when the operation was added to its queue; `nil` if that was before monitoring began.
  public var added: MonitorTime?
  /// The time when the operation became ready; `nil` if it is not ready yet, or if that was before
  /// monitoring began.
  public var becameReady: MonitorTime?
  /// The time when the operation started; `nil` if it has not started, or if that was before
  /// monitoring began. If operations are added and finish very quickly, a running operation may
  /// have a later time: the time at which the collector read it, at most one update later. Such a
  /// value becomes `nil` when the operation has finished.
  public var started: MonitorTime?
  /// The time when the monitor first found the operation executing, if ``started`` is unknown: the
  /// operation started at this time or earlier. `nil` if ``started`` is known, or if the operation
  /// does not execute.
  public var foundExecuting: MonitorTime? {
    get { rareValues.foundExecuting }
    set { rareValues.foundExecuting = newValue }
  }
  /// The time when the operation was asked to cancel; `nil` if it was not, or if that was before
  /// monitoring began.
  public var cancelRequested: MonitorTime?
  /// The time when the operation finished; `nil` if it has not, or if that was before monitoring
  /// began.
  public var finished: MonitorTime?
  /// The text of the operation's error, unsanitised and at most 1 KiB of UTF-8; `nil` if the
  /// operation has not failed, or its error is unknown.
  public var errorText: String? {
    get { rareValues.errorText }
    set { rareValues.errorText = newValue }
  }
  /// The kind that the program has set, unsanitised; `nil` if the kind of the operation is the name of
  /// its class.
  public var givenKind: String? {
    get { rareValues.givenKind }
    set { rareValues.givenKind = newValue }
  }
  /// The attempts of a retry; `nil` for other operations.
  public var attempts: RetryAttempts? {
    get { rareValues.attempts }
    set { rareValues.attempts = newValue }
  }
  /// The progress that the operation's code has reported last; `nil` if there was no report.
  public var progress: OperationProgress? {
    get { rareValues.progress }
    set { rareValues.progress = newValue }
  }
  /// What the operation does at this moment, as its code has reported it last, unsanitised and at most
  /// 1 KiB of UTF-8; `nil` if there was no report. If the operation has ended, it is the last report.
  public var statusText: String? {
    get { rareValues.statusText }
    set { rareValues.statusText = newValue }
  }
  /// The queue of the members of a group; `nil` for other operations. The counts of this queue are the
  /// progress of the group.
  public var memberQueue: QueueReport.ID? {
    get { rareValues.memberQueue }
    set { rareValues.memberQueue = newValue }
  }
  /// The time at which the delay ends for which the operation waits; `nil` if it waits for no delay, or if the
  /// clock of the delay is not one of the standard library.
  public var delayEnd: MonitorTime? {
    get { rareValues.delayEnd }
    set { rareValues.delayEnd = newValue }
  }
  /// The viewer that sent the last command to cancel the operation; `nil` if there was no such command.
  public var cancelRequester: CommandOrigin? {
    get { rareValues.cancelRequester }
    set { rareValues.cancelRequester = newValue }
  }

  /// The quality of service that was set for the operation; ``OperationQualityOfService/default`` if none was set, or
  /// if it is unknown.
  public var qualityOfService: OperationQualityOfService {
    get { rareValues.qualityOfService }
    set { rareValues.qualityOfService = newValue }
  }

  /// What cancelled the operation; `nil` if the operation was not cancelled or the cause is unknown.
  public var cancellationCause: CancellationCause? {
    get { rareValues.cancellationCause }
    set { rareValues.cancellationCause = newValue }
  }

  /// The values that few operations have.
  private struct RareValues: Sendable, Equatable {
    var errorText: String?
    var givenKind: String?
    var attempts: RetryAttempts?
    var cancelRequester: CommandOrigin?
    var foundExecuting: MonitorTime?
    var cancellationCause: CancellationCause?
    var progress: OperationProgress?
    var statusText: String?
    var memberQueue: QueueReport.ID?
    var delayEnd: MonitorTime?
    var qualityOfService = OperationQualityOfService.default
  }

  /// The memory of the values that few operations have. It is allocated only for these operations.
  private indirect enum RareMemory: Sendable, Equatable {
    case values(RareValues)
  }

  private var rareMemory: RareMemory?

  private var rareValues: RareValues {
    get { if case .values(let values) = rareMemory { values } else { RareValues() } }
    set { rareMemory = newValue == RareValues() ? nil : .values(newValue) }
  }

  /// Creates a report of an operation. Omitted values are unknown or empty.
  public init(
    id: ID, name: String, className: String, queue: QueueReport.ID, state: OperationState,
    priority: OperationPriority = .normal, dependencies: [ID] = [], unmetDependencyCount: Int = 0,
    isExcluded: Bool = false, dependentCount: Int = 0, added: MonitorTime? = nil,
    becameReady: MonitorTime? = nil,
    started: MonitorTime? = nil,
    cancelRequested: MonitorTime? = nil, finished: MonitorTime? = nil
  ) {
    self.id = id
    self.name = name
    self.className = className
    self.queue = queue
    self.state = state
    self.priority = priority
    self.dependencies = dependencies
    self.unmetDependencyCount = unmetDependencyCount
    self.isExcluded = isExcluded
    self.dependentCount = dependentCount
    self.added = added
    self.becameReady = becameReady
    self.started = started
    self.cancelRequested = cancelRequested
    self.finished = finished
  }
}

extension OperationReport {
  /// Whether the operation is unfinished and has no dependents. Such operations are the roots of the
  /// dependency trees of a process.
  package var isRoot: Bool { dependentCount == 0 && !state.isOver }
}

extension OperationReport {
  /// What the operation does, as one or two words, unsanitised. Statistics combine the operations of
  /// one kind. It is the name of the class if the program has set no kind.
  public var kind: String { givenKind ?? className }

  /// The name of the operation, or its kind if it has no name; unsanitised.
  package var title: String { name.isEmpty ? kind : name }

  /// Whether the operation executes, and its start is unknown.
  package var isStartUnknown: Bool { state == .executing && started == nil }

  /// Whether the operation was cancelled before a slot was free, so that it only finished in the slot.
  package var neverRan: Bool {
    guard state == .cancelled, let cancelRequested, let started else { return false }
    return cancelRequested <= started
  }

  /// The time when the operation entered its state; `nil` if that was before monitoring began.
  package var stateEntered: MonitorTime? {
    switch state {
    case .waiting: added
    case .ready, .held: becameReady
    case .executing: started
    case .cancelling: cancelRequested
    case .finished, .failed, .cancelled: finished
    }
  }
}

/// The five priorities of an operation; the raw value is Foundation's number.
public enum OperationPriority: Int, Codable, Sendable, CaseIterable, Comparable {
  /// The operation starts after ready operations of all other priorities.
  case veryLow = -8
  /// The operation starts after ready operations of normal priority.
  case low = -4
  /// The default priority.
  case normal = 0
  /// The operation starts before ready operations of normal priority.
  case high = 4
  /// The operation starts before ready operations of all other priorities.
  case veryHigh = 8

  /// Whether the priority `left` is lower than the priority `right`.
  public static func < (left: OperationPriority, right: OperationPriority) -> Bool {
    left.rawValue < right.rawValue
  }
}
