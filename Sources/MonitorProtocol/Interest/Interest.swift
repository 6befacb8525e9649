// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The data that a viewer requests. Counts and queues are always sent.
///
/// The monitor sorts and filters. Of a million operations, a viewer receives only the few hundred
/// that it can show.
public struct Interest: Sendable, Hashable {
  /// A part of the dependency graph.
  public struct Graph: Sendable, Hashable {
    /// The operation at which the part begins.
    public var root: OperationReport.ID
    /// The direction of the dependencies to follow.
    public var direction: GraphDirection
    /// The maximum number of operations. The nearest ones are sent.
    public var limit: Int

    /// Creates a request.
    public init(root: OperationReport.ID, direction: GraphDirection, limit: Int) {
      self.root = root
      self.direction = direction
      self.limit = limit
    }
  }

  /// Recent runs.
  public struct Timeline: Sendable, Hashable {
    /// How far back the runs go.
    public var window: Duration
    /// The maximum number of runs. Current runs are sent first, then the newest.
    public var limit: Int

    /// Creates a request.
    public init(window: Duration, limit: Int) {
      self.window = window
      self.limit = limit
    }
  }

  /// The order of the operations.
  public var order: SortOrder
  /// The condition for operations in the list; `nil` for all operations.
  public var filter: OperationFilter?
  /// Whether the list omits operations that are finished or cancelled.
  public var hidesOver: Bool
  /// Whether the list has only operations that ``Update/warnings`` name among their operations.
  public var showsWarnedOnly = false
  /// The maximum number of operations from the front of the list; `nil` for all.
  public var rowLimit: Int?
  /// Operations that are sent even if they are not in the list.
  public var operations: Set<OperationReport.ID>
  /// Parts of the dependency graph to send.
  public var graphs: Set<Graph>
  /// The maximum number of operations to send for the dependency trees; 0 for none. At most half of
  /// them are operations without dependents. The others are what these depend on, the nearest
  /// first. Unfinished operations come first.
  public var rootLimit = 0
  /// The operations whose unfinished direct and indirect dependents are sent as ids; see
  /// ``Update/dependents``. Empty for none.
  public var subjects: Set<OperationReport.ID>
  /// The maximum number of events per update, of those that match ``filter``; 0 for none, which
  /// costs the process nothing.
  public var eventLimit = 0
  /// The runs to send; `nil` for none.
  public var timeline: Timeline?
  /// The operation whose ``Update/detail`` is sent; `nil` for none.
  public var detail: OperationReport.ID?
  /// The kinds of warnings to send. A kind that no viewer requests costs the process almost
  /// nothing.
  public var warningKinds = MonitorWarning.Kind.usual

  /// Creates an interest; by default, in the first 500 operations by state.
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

  /// An interest in everything.
  public static let everything = Interest(rowLimit: nil)
}

/// A direction in the dependency graph.
public enum GraphDirection: String, Encodable, Sendable, Hashable {
  /// From an operation to its dependencies.
  case waitsFor
  /// From an operation to its dependents.
  case blocks
}

/// The unfinished operations that depend on given operations, directly or indirectly.
public struct Dependents: Sendable, Equatable {
  /// The maximum number of dependents that are searched for.
  public static let limit = 10_000

  /// The operations whose dependents were requested.
  public var subjects: Set<OperationReport.ID>
  /// The dependents of any of them, ascending, without the subjects themselves.
  public var ids: [OperationReport.ID]
  /// Whether there are, or may be, further dependents: beyond ``limit``, or behind very many
  /// finished operations.
  public var isCut: Bool

  /// Creates a value.
  public init(
    subjects: Set<OperationReport.ID>, ids: [OperationReport.ID] = [], isCut: Bool = false
  ) {
    self.subjects = subjects
    self.ids = ids
    self.isCut = isCut
  }
}
