// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireUpdatePart {
  init(_ part: UpdatePart) {
    let content = part.content
    self.init()
    isFirst = part.isFirst
    isLast = part.isLast
    time = content.time.nanoseconds
    if let more = part.moreDependencies {
      moreDependencies.operation = more.operation.rawValue
      moreDependencies.dependencies = more.dependencies.map(\.rawValue)
    }
    queues = content.queues.map { WireQueue($0) }
    changed = content.changed.map { WireOperation($0) }
    errors = content.changed.compactMap { WireOperationError($0) }
    foundExecuting = content.changed.compactMap { WireFoundExecuting($0) }
    attempts = content.changed.compactMap { WireAttempts($0) }
    cancellations = content.changed.compactMap { WireCancellation($0) }
    kinds = WireOperationKind.messages(about: content.changed)
    reports = content.changed.compactMap { WireReport($0) }
    qualities = WireOperationQuality.messages(about: content.changed)
    removed = content.removed.map(\.rawValue)
    matchCount = Int64(content.matchCount)
    keptCount = Int64(content.keptCount)
    keptFinishedCount = Int64(content.keptFinishedCount)
    if let dependents = content.dependents { self.dependents = WireDependents(dependents) }
    if let count = content.rootCount { rootCount = Int64(count) }
    lostChanges = content.lostChanges
    unstartedCompletionBlockCount = Int64(content.unstartedCompletionBlockCount)
    if let events = content.events { self.events = WireEvents(events) }
    if let runs = content.runs { self.runs = WireRuns(runs) }
    warnings = content.warnings.map { WireWarning($0) }
    if content.times != TimeStatistics() { times = WireTimes(content.times) }
    // The kinds are sorted, so that equal updates have equal bytes.
    kindTimes = content.kindTimes.sorted { $0.key < $1.key }.map { kind, times in
      var wire = WireKindTimes()
      wire.kind = kind.wireText
      wire.times = WireTimes(times)
      return wire
    }
    behind = content.behind.saturatedNanoseconds
    if let detail = content.detail { self.detail = WireDetail(detail) }
    logs = content.logs.map { WireOperationLog($0) }
    if let matches = content.matches { self.matches = WireMatches(matches) }
    runOrders = content.runOrders.map { WireRunOrder($0) }
    if let groups = content.groups { self.groups = WireGroups(groups) }
  }
}

extension UpdatePart {
  init(_ wire: WireUpdatePart, byteCount: Int) {
    var update = Update(
      time: MonitorTime(wire: wire.time), queues: wire.queues.map { QueueReport($0) },
      changed: wire.changed.compactMap { OperationReport($0) },
      removed: wire.removed.map { OperationReport.ID($0) },
      matchCount: Int(wireCount: wire.matchCount), keptCount: Int(wireCount: wire.keptCount),
      dependents: wire.hasDependents ? Dependents(wire.dependents) : nil,
      lostChanges: min(wire.lostChanges, UInt64(WireLimits.largestCount)))
    update.take(wire.errors)
    update.take(wire.foundExecuting)
    update.take(wire.cancellations)
    update.take(wire.attempts)
    update.take(wire.kinds)
    update.take(wire.reports)
    update.take(wire.qualities)
    update.keptFinishedCount = Int(wireCount: wire.keptFinishedCount)
    update.unstartedCompletionBlockCount = Int(wireCount: wire.unstartedCompletionBlockCount)
    update.rootCount = wire.hasRootCount ? Int(wireCount: wire.rootCount) : nil
    update.events = wire.hasEvents ? EventNews(wire.events) : nil
    update.runs = wire.hasRuns ? RecentRuns(wire.runs) : nil
    update.warnings = wire.warnings.compactMap { MonitorWarning($0) }
    update.times = TimeStatistics(wire.times)
    update.kindTimes = Dictionary(
      wire.kindTimes.map { ($0.kind.wireText, TimeStatistics($0.times)) },
      uniquingKeysWith: { first, _ in first })
    update.behind = Duration(wire: wire.behind)
    update.detail = wire.hasDetail ? OperationDetail(wire.detail) : nil
    update.logs = wire.logs.map { OperationLog($0) }
    update.matches = wire.hasMatches ? SearchMatches(wire.matches) : nil
    update.runOrders = wire.runOrders.map { RunOrder($0) }
    update.groups = wire.hasGroups ? OperationGroups(wire.groups) : nil
    self.init(
      content: update,
      moreDependencies: wire.hasMoreDependencies
        ? MoreDependencies(wire.moreDependencies) : nil,
      isFirst: wire.isFirst, isLast: wire.isLast, byteCount: byteCount)
  }
}

extension Update {
  /// Stores the errors of operations in ``changed``. Errors of other operations are ignored.
  fileprivate mutating func take(_ errors: [WireOperationError]) {
    guard !errors.isEmpty else { return }
    let known = Dictionary(
      errors.map { ($0.operation, $0) }, uniquingKeysWith: { first, _ in first })
    for index in changed.indices {
      if let error = known[changed[index].id.rawValue] { changed[index].take(error) }
    }
  }

  /// Stores when the process first found operations in ``changed`` executing.
  fileprivate mutating func take(_ found: [WireFoundExecuting]) {
    guard !found.isEmpty else { return }
    let times = Dictionary(
      found.map { ($0.operation, $0.time) }, uniquingKeysWith: { first, _ in first })
    for index in changed.indices where changed[index].isStartUnknown {
      changed[index].foundExecuting = times[changed[index].id.rawValue].map {
        MonitorTime(wire: $0)
      }
    }
  }

  /// Stores the causes of the cancellations of operations in ``changed``. Causes of other operations are
  /// ignored.
  fileprivate mutating func take(_ cancellations: [WireCancellation]) {
    guard !cancellations.isEmpty else { return }
    let known = Dictionary(
      cancellations.map { ($0.operation, $0) }, uniquingKeysWith: { first, _ in first })
    for index in changed.indices where changed[index].mayHaveCancellationCause {
      guard let cancellation = known[changed[index].id.rawValue] else { continue }
      changed[index].cancellationCause = OperationReport.CancellationCause(cancellation)
    }
  }

  /// Stores the attempts of retries in ``changed``. Attempts of other operations are ignored.
  fileprivate mutating func take(_ attempts: [WireAttempts]) {
    guard !attempts.isEmpty else { return }
    let known = Dictionary(
      attempts.map { ($0.operation, $0) }, uniquingKeysWith: { first, _ in first })
    for index in changed.indices {
      changed[index].attempts = known[changed[index].id.rawValue].map { RetryAttempts($0) }
    }
  }

  /// Stores what the code of operations in ``changed`` has reported. Reports about other operations are
  /// ignored.
  fileprivate mutating func take(_ reports: [WireReport]) {
    guard !reports.isEmpty else { return }
    let known = Dictionary(
      reports.map { ($0.operation, $0) }, uniquingKeysWith: { first, _ in first })
    for index in changed.indices {
      if let report = known[changed[index].id.rawValue] { changed[index].take(report) }
    }
  }

  /// Stores the qualities of service of operations in ``changed``. Those of other operations are ignored.
  fileprivate mutating func take(_ qualities: [WireOperationQuality]) {
    guard !qualities.isEmpty else { return }
    var known: [UInt64: OperationQualityOfService] = [:]
    for wire in qualities {
      let quality = OperationQualityOfService(wire.value)
      for id in wire.operations { known[id] = quality }
    }
    for index in changed.indices {
      if let quality = known[changed[index].id.rawValue] {
        changed[index].qualityOfService = quality
      }
    }
  }

  /// Stores the kinds of operations in ``changed``. Kinds of other operations are ignored.
  fileprivate mutating func take(_ kinds: [WireOperationKind]) {
    guard !kinds.isEmpty else { return }
    var known: [UInt64: String] = [:]
    for wire in kinds where !wire.kind.isEmpty {
      let kind = wire.kind.wireText
      for id in wire.operations { known[id] = kind }
    }
    for index in changed.indices {
      if let kind = known[changed[index].id.rawValue] { changed[index].givenKind = kind }
    }
  }
}

extension UpdatePart.MoreDependencies {
  init(_ wire: WireMoreDependencies) {
    self.init(
      operation: .init(wire.operation), dependencies: wire.dependencies.map { .init($0) })
  }
}

extension WireDependents {
  init(_ dependents: Dependents) {
    self.init()
    subjects = dependents.subjects.map(\.rawValue).sorted()
    ids = dependents.ids.map(\.rawValue)
    isCut = dependents.isCut
  }
}

extension Dependents {
  init(_ wire: WireDependents) {
    self.init(
      subjects: Set(wire.subjects.lazy.map { OperationReport.ID($0) }),
      ids: wire.ids.map { OperationReport.ID($0) }, isCut: wire.isCut)
  }
}
