// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The data that a viewer requests. Counts and queues are always sent.
///
/// The monitor also sends the operations that explain why requested operations were cancelled, within a
/// limit.
///
/// The monitor sorts and filters the operations. Therefore a viewer of a million operations
/// receives only the few hundred that it can show.
public struct Interest: Sendable, Hashable {
  /// A request for a part of the dependency graph.
  public struct Graph: Sendable, Hashable {
    /// The operation at which the requested part of the dependency graph begins.
    public var root: OperationReport.ID
    /// The direction of the dependencies to follow.
    public var direction: GraphDirection
    /// The maximum number of operations to send. Operations near the root are preferred.
    public var limit: Int

    /// Creates a request for a part of the dependency graph.
    public init(root: OperationReport.ID, direction: GraphDirection, limit: Int) {
      self.root = root
      self.direction = direction
      self.limit = limit
    }
  }

  /// A request for recent runs.
  public struct Timeline: Sendable, Hashable {
    /// The length of the time window for the runs. It ends now.
    public var window: Duration
    /// The maximum number of runs to send. Current runs are preferred, and then the newest runs.
    public var limit: Int

    /// Creates a request for a part of the dependency graph.
    public init(window: Duration, limit: Int) {
      self.window = window
      self.limit = limit
    }
  }

  /// A search in the list.
  public struct Search: Sendable, Hashable {
    /// The text that the name, the kind, the class or the id of an operation must contain. ASCII letters match
    /// in upper and lower case. If the text is empty, no operation matches, and the monitor only
    /// prepares the search.
    public var text: String
    /// The operation at which the search starts; `nil` if the search starts at the first operation
    /// of the list.
    public var start: OperationReport.ID?

    /// Creates a search.
    public init(text: String, start: OperationReport.ID? = nil) {
      self.text = text
      self.start = start
    }
  }

  /// A request for the run orders of queues.
  public struct RunOrderRequest: Sendable, Hashable {
    /// The queues whose run orders are sent; empty for all queues with executing or ready operations. An update has at most ``WireLimits/mostRunOrders`` run orders, of
    /// the queues with the lowest ids. They have at most ``WireLimits/mostRunOrderIDs`` operations together, so each has
    /// fewer than ``limit`` if there are many.
    public var queues: Set<QueueReport.ID>
    /// The maximum number of executing operations, and of ready operations, in each run order: 0 to
    /// ``WireLimits/mostRunOrderOperations``.
    public var limit: Int
    /// Whether the operations in the run orders are also sent, even if they are not in the list. A request for all queues
    /// does not include them.
    public var includesOperations: Bool

    /// Creates a request. By default, it is for all queues, and without their operations.
    public init(
      queues: Set<QueueReport.ID> = [], limit: Int = WireLimits.mostRunOrderOperations,
      includesOperations: Bool = false
    ) {
      self.queues = queues
      self.limit = limit
      self.includesOperations = includesOperations
    }
  }

  /// A request for the groups of the operations in the list.
  public struct GroupsRequest: Sendable, Hashable {
    /// The value by which operations are grouped.
    public var by: OperationGroups.By
    /// The maximum number of groups: 0 to ``WireLimits/mostGroups``. Groups with many unfinished operations are
    /// preferred.
    public var limit: Int

    /// Creates a request for groups.
    public init(by: OperationGroups.By, limit: Int = WireLimits.mostGroups) {
      self.by = by
      self.limit = limit
    }
  }

  /// A request for log lines.
  public enum Logs: Sendable, Hashable {
    /// Requests the lines of these operations; empty for none.
    case operations(Set<OperationReport.ID>)
    /// Requests the lines of all operations.
    case all
  }

  /// The order of the operations in the list.
  public var order: SortOrder
  /// The condition for operations in the list; `nil` for all operations.
  public var filter: OperationFilter?
  /// The exact names of the operations in the list, which must also match ``filter``; empty for operations with any
  /// name. On a connection, names are sent up to ``WireLimits/mostNameBytes``. A process of an earlier version ignores
  /// them.
  public var names: Set<String> = []
  /// Whether the list omits operations that are finished or cancelled.
  public var hidesOver: Bool
  /// Whether the list has only operations with a warning: the operations of ``Update/warnings``,
  /// and the awaited operations of priority inversions.
  public var showsWarnedOnly = false
  /// The maximum number of operations from the front of the list; `nil` for all.
  public var rowLimit: Int?
  /// The ids of operations that are sent even if they are not in the list.
  public var operations: Set<OperationReport.ID>
  /// The parts of the dependency graph to send.
  public var graphs: Set<Graph>
  /// The maximum number of operations to send for the dependency trees; 0 for none. At most half of
  /// them are roots: unfinished operations without dependents. The others are direct and indirect
  /// dependencies of the roots, the nearest first.
  public var rootLimit = 0
  /// The operations whose unfinished direct and indirect dependents are sent as ids; see
  /// ``Update/dependents``. Empty for none.
  public var subjects: Set<OperationReport.ID>
  /// The maximum number of events per update; 0 for none. Only events of operations that match
  /// ``filter`` are sent. If the limit is 0, events cost the process nothing.
  public var eventLimit = 0
  /// The request for recent runs; `nil` if no runs are requested.
  public var timeline: Timeline?
  /// The operation whose ``Update/detail`` is sent; `nil` if no detail is requested.
  public var detail: OperationReport.ID?
  /// The operations whose log lines are sent; see ``Update/logs``. By default, there are none, and
  /// lines cost the process nothing but their storage.
  public var logs = Logs.operations([])
  /// The search whose ``Update/matches`` are sent; `nil` if no search is requested.
  public var search: Search?
  /// Whether ``QueueReport/times`` are sent. A process before version 1.4 of the protocol does not send them.
  public var queueTimes = false
  /// The run orders to send; see ``Update/runOrders``. `nil`, the default, for none. A process before version 1.4 of
  /// the protocol does not send them.
  public var runOrder: RunOrderRequest?
  /// The groups to send; see ``Update/groups``. `nil`, the default, for none. A process before version 1.4 of the
  /// protocol does not send them.
  public var groups: GroupsRequest?
  /// The kinds of warnings to send. A kind that no viewer requests costs the process almost
  /// nothing.
  public var warningKinds = MonitorWarning.Kind.usual

  /// Creates an interest. By default, it requests the first 500 operations, sorted by state.
  public init(
    order: SortOrder = SortOrder(), filter: OperationFilter? = nil, hidesOver: Bool = false,
    rowLimit: Int? = 500, operations: Set<OperationReport.ID> = [], graphs: Set<Graph> = [],
    subjects: Set<OperationReport.ID> = []
  ) {
    self.order = order
    self.filter = filter
    self.hidesOver = hidesOver
    self.rowLimit = rowLimit
    self.operations = operations
    self.graphs = graphs
    self.subjects = subjects
  }

  /// An interest that requests all operations, but no events, runs and log lines.
  public static let everything = Interest(rowLimit: nil)

  /// Returns the key by which the list sorts an operation; `nil` if ``hidesOver``, ``names``
  /// or ``filter`` excludes the operation. ``showsWarnedOnly`` and ``rowLimit`` are not evaluated.
  ///
  /// - Parameters:
  ///   - report: The operation.
  ///   - queueName: The name of its queue.
  ///   - now: The moment for which the filter computes the operation's ages.
  ///   - position: The position of the operation in the run order of its queue, from 1 on; `nil` if it is unknown.
  /// - Returns: The key; `nil` if the operation is excluded.
  package func sortKey(
    of report: OperationReport, queueName: String, at now: MonitorTime, position: Int? = nil
  ) -> SortKey? {
    if hidesOver, report.state.isOver { return nil }
    guard names.isEmpty || names.contains(report.name) else { return nil }
    guard filter?.matches(report, queueName: queueName, at: now) ?? true else { return nil }
    return SortKey(report, queueName: queueName, by: order.column, position: position)
  }
}

/// A direction in the dependency graph.
public enum GraphDirection: String, Encodable, Sendable, Hashable {
  /// The direction from an operation to its dependencies.
  case waitsFor
  /// The direction from an operation to its dependents.
  case blocks
}

/// The unfinished operations that depend on given operations, directly or indirectly.
public struct Dependents: Sendable, Equatable {
  /// The maximum number of dependents that are searched for.
  public static let limit = 10_000

  /// The operations whose dependents were requested.
  public var subjects: Set<OperationReport.ID>
  /// The ids of the dependents of any subject, ascending. The subjects themselves are not included.
  public var ids: [OperationReport.ID]
  /// Whether the list may be incomplete. The search for dependents ends at ``limit``, and also
  /// after very many finished operations.
  public var isCut: Bool

  /// Creates a list of dependents.
  public init(
    subjects: Set<OperationReport.ID>, ids: [OperationReport.ID] = [], isCut: Bool = false
  ) {
    self.subjects = subjects
    self.ids = ids
    self.isCut = isCut
  }
}
