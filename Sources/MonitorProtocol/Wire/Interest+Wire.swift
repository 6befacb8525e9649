// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireInterest {
  init(_ interest: Interest) {
    self.init()
    order.column = WireInterest.Order.Column(interest.order.column)
    order.isReversed = interest.order.isReversed
    if let filter = interest.filter { self.filter = filter.text }
    names = Self.names(interest.names)
    hidesOver = interest.hidesOver
    showsWarnedOnly = interest.showsWarnedOnly
    if let limit = interest.rowLimit { rowLimit = Self.rows(limit) }
    operations = Self.ids(interest.operations)
    graphs = Self.graphs(interest.graphs)
    rootLimit = Int64(interest.rootLimit.clamped(to: 0...WireLimits.mostGraphOperations))
    subjects = Self.ids(interest.subjects)
    eventLimit = Self.rows(interest.eventLimit)
    if let timeline = interest.timeline {
      self.timeline.window =
        timeline.window.clamped(to: .zero...WireLimits.longestWindow).saturatedNanoseconds
      self.timeline.limit = Self.rows(timeline.limit)
    }
    if let id = interest.detail { detail = id.rawValue }
    if let search = interest.search { self.search = WireSearch(search) }
    switch interest.logs {
    case .operations(let ids):
      logs = Array(ids.map(\.rawValue).sorted().prefix(WireLimits.mostLogOperations))
    case .all: allLogs = true
    }
    queueTimes = interest.queueTimes
    if let request = interest.runOrder { runOrder = RunOrderRequest(request) }
    if let request = interest.groups { groups = GroupsRequest(request) }
    warningKinds = interest.warningKinds.map { WireWarning.Kind($0) }
      .sorted { $0.rawValue < $1.rawValue }
  }

  private static func rows(_ limit: Int) -> Int64 {
    Int64(limit.clamped(to: 0...WireLimits.mostRows))
  }

  // The ids are sorted, so that equal interests have equal bytes.
  private static func ids(_ ids: Set<OperationReport.ID>) -> [UInt64] {
    Array(ids.map(\.rawValue).sorted().prefix(WireLimits.mostSingleOperations))
  }

  private static func names(_ names: Set<String>) -> [String] {
    var left = WireLimits.mostNameBytes
    let fitting = names.sorted().prefix { name in
      left -= name.wireNameSize
      return left >= 0
    }
    return fitting.map(\.wireText)
  }

  private static func graphs(_ graphs: Set<Interest.Graph>) -> [WireInterest.Graph] {
    let wire = graphs.map { graph in
      var wire = WireInterest.Graph()
      wire.root = graph.root.rawValue
      wire.direction =
        switch graph.direction {
        case .waitsFor: .waitsFor
        case .blocks: .blocks
        }
      wire.limit = rows(graph.limit)
      return wire
    }
    let sorted = wire.sorted {
      ($0.root, $0.direction.rawValue, $0.limit) < ($1.root, $1.direction.rawValue, $1.limit)
    }
    var left = Int64(WireLimits.mostGraphOperations)
    return sorted.prefix(WireLimits.mostGraphs).map { graph in
      var graph = graph
      graph.limit = min(graph.limit, left)
      left -= graph.limit
      return graph
    }
  }
}

extension Interest {
  init(_ wire: WireInterest) throws(WireError) {
    self.init(
      order: SortOrder(
        by: SortOrder.Column(wire.order.column), isReversed: wire.order.isReversed),
      filter: wire.hasFilter ? try Self.filter(wire.filter) : nil, hidesOver: wire.hidesOver,
      rowLimit: wire.hasRowLimit ? try Self.rows(wire.rowLimit, "a row limit") : nil,
      operations: Set(
        try checked(wire.operations, most: WireLimits.mostSingleOperations, "the viewer")),
      graphs: try Self.graphs(wire.graphs),
      subjects: Set(
        try checked(wire.subjects, most: WireLimits.mostSingleOperations, "the viewer")))
    names = try Self.names(wire.names)
    showsWarnedOnly = wire.showsWarnedOnly
    rootLimit = try checked(
      wire.rootLimit, in: 0...WireLimits.mostGraphOperations, "a root limit")
    eventLimit = try Self.rows(wire.eventLimit, "an event limit")
    timeline = wire.hasTimeline ? try Timeline(wire.timeline) : nil
    detail = wire.hasDetail ? OperationReport.ID(wire.detail) : nil
    search = wire.hasSearch ? try Search(wire.search) : nil
    logs =
      wire.allLogs
      ? .all
      : .operations(Set(try checked(wire.logs, most: WireLimits.mostLogOperations, "the viewer")))
    queueTimes = wire.queueTimes
    runOrder = wire.hasRunOrder ? try RunOrderRequest(wire.runOrder) : nil
    groups = wire.hasGroups ? try GroupsRequest(wire.groups) : nil
    warningKinds = Set(wire.warningKinds.compactMap { MonitorWarning.Kind($0) })
  }

  fileprivate static func rows(_ limit: Int64, _ what: String) throws(WireError) -> Int {
    try checked(limit, in: 0...WireLimits.mostRows, what)
  }

  private static func filter(_ text: String) throws(WireError) -> OperationFilter {
    guard text.utf8.count <= WireLimits.longestText else {
      throw WireError(
        "a filter has \(text.utf8.count) bytes; the limit is \(WireLimits.longestText)")
    }
    do {
      return try OperationFilter(text)
    } catch {
      throw WireError("invalid filter: \(error)")
    }
  }

  private static func names(_ names: [String]) throws(WireError) -> Set<String> {
    let size = names.reduce(0) { $0 + $1.wireNameSize }
    guard size <= WireLimits.mostNameBytes else {
      throw WireError(
        """
        the names that the viewer requests have \(size) bytes; the limit is \
        \(WireLimits.mostNameBytes)
        """)
    }
    return Set(names.lazy.map(\.wireText))
  }

  private static func graphs(_ wire: [WireInterest.Graph]) throws(WireError) -> Set<Graph> {
    guard wire.count <= WireLimits.mostGraphs else {
      throw WireError(
        """
        the viewer requests \(wire.count) dependency graphs; the limit is \(WireLimits.mostGraphs)
        """)
    }
    var graphs: Set<Graph> = []
    var left = WireLimits.mostGraphOperations
    for graph in wire {
      let direction: GraphDirection
      switch graph.direction {
      case .waitsFor: direction = .waitsFor
      case .blocks: direction = .blocks
      case .unspecified, .UNRECOGNIZED: continue
      }
      let limit = try rows(graph.limit, "a graph's limit")
      guard limit <= left else {
        throw WireError(
          """
          the viewer requests dependency graphs with more than \
          \(WireLimits.mostGraphOperations) operations
          """)
      }
      left -= limit
      graphs.insert(Graph(root: .init(graph.root), direction: direction, limit: limit))
    }
    return graphs
  }
}

extension WireSearch {
  init(_ search: Interest.Search) {
    self.init()
    text = search.text.wireText
    if let id = search.start { start = id.rawValue }
  }
}

extension Interest.Search {
  init(_ wire: WireSearch) throws(WireError) {
    guard wire.text.utf8.count <= WireLimits.longestText else {
      throw WireError(
        "a search has \(wire.text.utf8.count) bytes; the limit is \(WireLimits.longestText)")
    }
    self.init(text: wire.text, start: wire.hasStart ? OperationReport.ID(wire.start) : nil)
  }
}

extension WireMatches {
  init(_ matches: SearchMatches) {
    self.init()
    search = WireSearch(matches.search)
    count = Int64(matches.count)
    first = Int64(matches.first)
    ids = matches.ids.map(\.rawValue)
    next = Int64(matches.next)
  }
}

extension SearchMatches {
  /// Creates matches from a message. The values of a wrong message are changed so that they agree
  /// with each other.
  init(_ wire: WireMatches) {
    let ids = wire.ids.prefix(2 * Self.reach + 1).map { OperationReport.ID($0) }
    let count = ids.isEmpty ? 0 : max(ids.count, Int(wireCount: wire.count))
    self.init(
      search: Interest.Search(
        text: wire.search.text.wireText,
        start: wire.search.hasStart ? OperationReport.ID(wire.search.start) : nil),
      count: count, first: Int(wireCount: wire.first) % max(1, count), ids: ids,
      next: max(0, min(Int(wireCount: wire.next), ids.count - 1)))
  }
}

extension Interest.Timeline {
  init(_ wire: WireInterest.Timeline) throws(WireError) {
    let window = Duration.nanoseconds(wire.window)
    guard window >= .zero, window <= WireLimits.longestWindow else {
      throw WireError(
        "a timeline of \(window) is not between 0 seconds and \(WireLimits.longestWindow)")
    }
    self.init(window: window, limit: try Interest.rows(wire.limit, "a timeline's limit"))
  }
}

extension WireInterest.Order.Column {
  init(_ column: SortOrder.Column) {
    self =
      switch column {
      case .id: .id
      case .state: .state
      case .queue: .queue
      case .priority: .priority
      case .dependencies: .dependencies
      case .time: .time
      case .dependents: .dependents
      case .name: .name
      case .run: .run
      case .added: .added
      case .position: .position
      }
  }
}

extension SortOrder.Column {
  init(_ wire: WireInterest.Order.Column) {
    self =
      switch wire {
      case .id: .id
      case .state, .unspecified, .UNRECOGNIZED: .state
      case .run: .run
      case .added: .added
      case .position: .position
      case .queue: .queue
      case .priority: .priority
      case .dependencies: .dependencies
      case .time: .time
      case .dependents: .dependents
      case .name: .name
      }
  }
}
