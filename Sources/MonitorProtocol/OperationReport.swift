// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of one operation, as the monitor knows it.
public struct OperationReport: Sendable, Equatable, Identifiable {
  /// Identifies one operation for the life of its process. Never given twice.
  public struct ID: Codable, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number shown as `#1042`.
    public let rawValue: UInt64

    /// Creates an identifier from its number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads the number.
    public init(from decoder: any Decoder) throws {
      rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(rawValue)
    }

    /// Whether `left` was given out before `right`.
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }

    /// The number after a `#`, and before it the number of the process if several are watched.
    public var description: String {
      processNumber == 0 ? "#\(rawValue)" : "\(processNumber)#\(withinProcess.rawValue)"
    }
  }

  /// Identifies the operation.
  public let id: ID
  /// Its name, unsanitised. It may contain any characters and may be empty.
  public var name: String
  /// The name of its Swift class, without the module.
  public var className: String
  /// The queue that it was added to.
  public var queue: QueueReport.ID
  /// Its state.
  public var state: OperationState
  /// Its priority among the ready operations of its queue.
  public var priority: OperationPriority
  /// The operations that it depends on, in the order in which they were added.
  public var dependencies: [ID]
  /// How many of its dependencies have not finished.
  public var unmetDependencyCount: Int
  /// Whether its dependencies are finished and it waits for operations with a common exclusion.
  public var isExcluded: Bool
  /// The number of kept operations that depend on it, including finished ones.
  public var dependentCount: Int
  /// When it was added to its queue; `nil` if that was before monitoring began.
  public var added: MonitorTime?
  /// When it became ready; `nil` if it has not, or if that was before monitoring began.
  public var becameReady: MonitorTime?
  /// When it started; `nil` if it has not, or if that was before monitoring began. If very many
  /// operations come and go, a running operation may have the time at which the collector found it,
  /// at most one update later. The value becomes `nil` after it has finished.
  public var started: MonitorTime?
  /// When it was asked to cancel; `nil` if it was not, or if that was before monitoring began.
  public var cancelRequested: MonitorTime?
  /// When it finished; `nil` if it has not, or if that was before monitoring began.
  public var finished: MonitorTime?
  /// The last sender of a cancel command from another process; `nil` if there was none.
  public var cancelRequester: CommandOrigin?

  /// Creates a report; omitted values are unknown or empty.
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
  /// Its name, or its class if it has no name; unsanitised.
  package var title: String { name.isEmpty ? className : name }

  /// When it entered its state; `nil` if that was before monitoring began.
  package var stateEntered: MonitorTime? {
    switch state {
    case .waiting: added
    case .ready, .held: becameReady
    case .executing: started
    case .cancelling: cancelRequested
    case .finished, .cancelled: finished
    }
  }
}

/// The five priorities of an operation; the raw value is Foundation's number.
public enum OperationPriority: Int, Codable, Sendable, CaseIterable, Comparable {
  /// Starts after every other ready operation.
  case veryLow = -8
  /// Starts after normal ones.
  case low = -4
  /// The default.
  case normal = 0
  /// Starts before normal ones.
  case high = 4
  /// Starts before every other ready operation.
  case veryHigh = 8

  /// Whether an operation of the `left` priority starts after one of the `right`.
  public static func < (left: OperationPriority, right: OperationPriority) -> Bool {
    left.rawValue < right.rawValue
  }
}
