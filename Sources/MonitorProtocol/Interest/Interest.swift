// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a viewer wants to be told of; counts and queues are told always.
///
/// The monitor sorts and filters, so that a viewer of a million operations is sent the few hundred
/// that it can show.
public struct Interest: Sendable, Hashable {
  /// A part of the dependency graph.
  public struct Graph: Sendable, Hashable {
    /// From which operation on.
    public var root: OperationReport.ID
    /// Which way.
    public var direction: GraphDirection
    /// The most operations, the nearest first.
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
    /// How far back they are wanted.
    public var window: Duration
    /// The most runs, those that go on and then the newest first.
    public var limit: Int

    /// Creates a request.
    public init(window: Duration, limit: Int) {
      self.window = window
      self.limit = limit
    }
  }

  /// In which order operations are wanted.
  public var order: SortOrder
  /// Which operations are listed; `nil` for all.
  public var filter: OperationFilter?
  /// Whether what is over is left out of the list.
  public var hidesOver: Bool
  /// Whether only those are listed that ``Update/warnings`` name among their operations.
  public var showsWarnedOnly = false
  /// How many operations of the list are wanted, from its front; `nil` for all.
  public var rowLimit: Int?
  /// Operations that are wanted whether listed or not.
  public var operations: Set<OperationReport.ID>
  /// Parts of the dependency graph that are wanted.
  public var graphs: Set<Graph>
  /// How many operations are wanted of those that no other depends on, of which there are half at most,
  /// and of what these wait for, the nearest first; 0 for none. What has not finished comes first.
  public var rootLimit = 0
  /// The operations of whose unfinished dependents, direct and indirect, the ids are wanted; see
  /// ``Update/dependents``. Empty for none.
  public var subjects: Set<OperationReport.ID>
  /// How many events are wanted at most with each update, of those that ``filter`` lets through; 0
  /// for none, which costs the process nothing.
  public var eventLimit = 0
  /// Which runs are wanted; `nil` for none.
  public var timeline: Timeline?
  /// The operation of which ``Update/detail`` is wanted; `nil` for none.
  public var detail: OperationReport.ID?
  /// Which kinds of warnings are wanted. One that no viewer wants costs the process next to nothing.
  public var warningKinds = MonitorWarning.Kind.usual

  /// Creates an interest; by default in the first 500 operations by state.
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

/// A way through the dependency graph.
public enum GraphDirection: String, Encodable, Sendable, Hashable {
  /// From an operation to what it depends on.
  case waitsFor
  /// From an operation to what depends on it.
  case blocks
}

/// The unfinished operations that depend on some others, directly or through others.
public struct Dependents: Sendable, Equatable {
  /// More than so many are not looked for.
  public static let limit = 10_000

  /// The operations that were asked about.
  public var subjects: Set<OperationReport.ID>
  /// Those that depend on any of them, ascending; the subjects themselves are not among them.
  public var ids: [OperationReport.ID]
  /// Whether there are, or may be, more: than ``limit``, or behind very many that have finished.
  public var isCut: Bool

  /// Creates an answer.
  public init(
    subjects: Set<OperationReport.ID>, ids: [OperationReport.ID] = [], isCut: Bool = false
  ) {
    self.subjects = subjects
    self.ids = ids
    self.isCut = isCut
  }
}
