// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Divides an update into parts. Each part fits into one message.
///
/// A list of items can be divided between any two items. The list of dependencies of one operation
/// can also be divided, because the number of dependencies is unlimited. The next part then
/// contains the other dependencies.
struct UpdateSplitter {
  /// The number of dependencies of an operation that are always in the same part as the operation.
  private static let uncutDependencyCount = 1_000

  private let update: Update
  // The ids of subjects (operations whose dependents were requested) and the kinds are
  // sorted, so that equal updates have equal bytes.
  private let subjects: [OperationReport.ID]
  private let kindTimes: [(key: String, value: TimeStatistics)]
  private var isFirst = true
  private var isOver = false

  // For each list of the update: the number of items in the parts that have been made so far.
  private var queues = 0
  private var changed = 0
  private var removed = 0
  private var subject = 0
  private var dependents = 0
  private var events = 0
  private var runs = 0
  private var warnings = 0
  private var kinds = 0
  private var reasons = 0
  private var awaitedOperations = 0
  private var awaitedQueues = 0
  private var logs = 0
  private var runOrders = 0
  private var groups = 0
  /// The remaining dependencies of the last operation in the previous part. No part contains these
  /// dependencies yet.
  private var rest: ArraySlice<OperationReport.ID> = []

  init(_ update: Update) {
    self.update = update
    subjects = update.dependents?.subjects.sorted() ?? []
    kindTimes = update.kindTimes.sorted { $0.key < $1.key }
  }

  mutating func next() -> UpdatePart? {
    if isOver { return nil }
    var room = Room()
    var part = UpdatePart(content: head, isFirst: isFirst, isLast: false)
    part.moreDependencies = moreDependencies(&room)
    part.content.queues = room.take(update.queues, &queues) { $0.wireSize }
    part.content.changed = operations(&room)
    part.content.removed = room.take(update.removed, &removed) { $0.wireSize }
    fillAnswers(of: &part.content, &room)
    part.content.warnings = room.take(update.warnings, &warnings) { $0.wireSize }
    part.content.kindTimes = times(&room)
    fillDetail(of: &part.content, &room)
    part.content.logs = room.take(update.logs, &logs) { $0.wireSize }
    part.content.runOrders = room.take(update.runOrders, &runOrders) { $0.wireSize }
    part.content.groups = takeGroups(&room)
    isFirst = false
    isOver = !room.wasTooSmall
    part.isLast = isOver
    return part
  }

  /// The values of the update that are not lists. They are only in the first part.
  private var head: Update {
    guard isFirst else { return Update(time: MonitorTime(nanoseconds: 0)) }
    var head = Update(
      time: update.time, matchCount: update.matchCount, keptCount: update.keptCount,
      lostChanges: update.lostChanges)
    head.keptFinishedCount = update.keptFinishedCount
    head.rootCount = update.rootCount
    head.unstartedCompletionBlockCount = update.unstartedCompletionBlockCount
    head.times = update.times
    head.behind = update.behind
    head.matches = update.matches
    return head
  }

  private mutating func operations(_ room: inout Room) -> [OperationReport] {
    let start = changed
    while changed < update.changed.count, room.bytes > 0 {
      let dependencies = update.changed[changed].dependencies
      room.bytes -= update.changed[changed].wireSizeWithoutDependencies
      var kept = 0
      while kept < dependencies.count, kept < Self.uncutDependencyCount || room.bytes > 0 {
        room.bytes -= dependencies[kept].wireSize
        kept += 1
      }
      rest = dependencies[kept...]
      changed += 1
    }
    if changed < update.changed.count || !rest.isEmpty { room.wasTooSmall = true }
    if start == 0, changed == update.changed.count, rest.isEmpty { return update.changed }
    var taken = Array(update.changed[start..<changed])
    if !taken.isEmpty { taken[taken.count - 1].dependencies.removeLast(rest.count) }
    return taken
  }

  private mutating func times(_ room: inout Room) -> [String: TimeStatistics] {
    let taken = room.take(kindTimes, &kinds) { $0.key.wireSize + 100 }
    // If the part contains the times of all kinds, it uses the dictionary of the update, because
    // a new dictionary would hash each complete kind.
    return taken.count == update.kindTimes.count
      ? update.kindTimes : Dictionary(uniqueKeysWithValues: taken)
  }

  private mutating func takeGroups(_ room: inout Room) -> OperationGroups? {
    guard let all = update.groups else { return nil }
    let taken = room.take(all.groups, &groups) { $0.wireSize }
    if !isFirst, taken.isEmpty { return nil }
    return OperationGroups(by: all.by, groups: taken, otherCount: isFirst ? all.otherCount : 0)
  }

  private mutating func moreDependencies(_ room: inout Room) -> UpdatePart.MoreDependencies? {
    guard !rest.isEmpty else { return nil }
    let all = Array(rest)
    var count = 0
    let taken = room.take(all, &count) { $0.wireSize }
    rest = rest.dropFirst(count)
    return UpdatePart.MoreDependencies(
      operation: update.changed[changed - 1].id, dependencies: taken)
  }

  private mutating func fillAnswers(of content: inout Update, _ room: inout Room) {
    if let all = update.dependents {
      let answer = Dependents(
        subjects: Set(room.take(subjects, &subject) { $0.wireSize }),
        ids: room.take(all.ids, &dependents) { $0.wireSize }, isCut: isFirst && all.isCut)
      if isFirst || !answer.subjects.isEmpty || !answer.ids.isEmpty { content.dependents = answer }
    }
    if let all = update.events {
      let news = EventNews(
        events: room.take(all.events, &events) { $0.wireSize },
        skippedCount: isFirst ? all.skippedCount : 0, isBeginning: isFirst && all.isBeginning)
      if isFirst || !news.events.isEmpty { content.events = news }
    }
    if let all = update.runs {
      let recent = RecentRuns(
        runs: room.take(all.runs, &runs) { $0.wireSize }, count: isFirst ? all.count : 0)
      if isFirst || !recent.runs.isEmpty { content.runs = recent }
    }
  }

  private mutating func fillDetail(of content: inout Update, _ room: inout Room) {
    guard let all = update.detail else { return }
    let detail = OperationDetail(
      id: all.id, qualityOfService: all.qualityOfService,
      reasons: room.take(all.reasons, &reasons) {
        $0.sentence.wireSize + 10 * $0.operations.count + 10
      },
      awaitedOperations: room.take(all.awaitedOperations, &awaitedOperations) { $0.wireSize },
      awaitedQueues: room.take(all.awaitedQueues, &awaitedQueues) { _ in 10 })
    if isFirst || !detail.reasons.isEmpty || !detail.awaitedOperations.isEmpty
      || !detail.awaitedQueues.isEmpty
    {
      content.detail = detail
    }
  }
}

/// The remaining space in a part.
private struct Room {
  /// The number of remaining bytes; negative if the last item was larger than the remaining space.
  var bytes = WireLimits.softPartSize
  /// Whether some items did not fit and need another part.
  var wasTooSmall = false

  /// Returns the items from the index `cursor` on that fit into the part, and sets `cursor` to the
  /// index after them.
  mutating func take<Item>(
    _ items: [Item], _ cursor: inout Int, size: (Item) -> Int
  ) -> [Item] {
    let start = cursor
    while cursor < items.count, bytes > 0 {
      bytes -= size(items[cursor])
      cursor += 1
    }
    if cursor < items.count { wasTooSmall = true }
    return start == 0 && cursor == items.count ? items : Array(items[start..<cursor])
  }
}

// MARK: - The maximum size of values in a message

extension String {
  fileprivate var wireSize: Int { min(utf8.count, WireLimits.longestText) + 4 }
}

extension OperationReport.ID {
  /// The size of the encoded id in bytes. Each byte contains seven bits of the number.
  fileprivate var wireSize: Int { max(1, (70 - rawValue.leadingZeroBitCount) / 7) }
}

extension OperationReport {
  fileprivate var wireSizeWithoutDependencies: Int {
    let error = errorText.map { $0.wireSize + 20 } ?? 0
    let cause = cancellationCause.map { ($0.reason?.wireSize ?? 0) + 40 } ?? 0
    let kind = givenKind.map { $0.wireSize + 20 } ?? 0
    let status = statusText.map { $0.wireSize + 20 } ?? 0
    let reported = status + (progress == nil ? 0 : 60) + (delayEnd == nil ? 0 : 40)
    let quality = qualityOfService == .default ? 0 : 14
    return name.wireSize + className.wireSize + error + cause + kind + reported + quality
      + (attempts?.wireSize ?? 0) + 150
  }
}

extension RetryAttempts {
  fileprivate var wireSize: Int {
    attempts.reduce(60 + (lastFailure?.text.wireSize ?? 0)) {
      $0 + $1.name.wireSize + $1.kind.wireSize + 60
    }
  }
}

extension OperationLog {
  fileprivate var wireSize: Int { lines.reduce(40) { $0 + $1.text.wireSize + 20 } }
}

extension QueueReport {
  fileprivate var wireSize: Int { name.wireSize + 145 + (times == nil ? 0 : 100) }
}

extension OperationEvent {
  fileprivate var wireSize: Int { title.wireSize + 50 }
}

extension OperationRun {
  fileprivate var wireSize: Int { title.wireSize + (kind?.wireSize ?? 0) + 60 }
}

extension RunOrder {
  fileprivate var wireSize: Int {
    let most = WireLimits.mostRunOrderOperations
    let ids = [executing.prefix(most), ready.prefix(most)].joined()
    return ids.reduce(30) { $0 + $1.wireSize }
  }
}

extension OperationGroups.Group {
  fileprivate var wireSize: Int {
    let key =
      switch key {
      case .kind(let kind): kind.wireSize
      case .queue: 12
      }
    return key + 6 * runBuckets.count + 230
  }
}

extension MonitorWarning {
  fileprivate var wireSize: Int {
    title.wireSize + awaitedTitle.wireSize + 10 * (operations.count + awaited.count) + 60
  }
}

/// The messages of an update, in order. An update may need more than one message.
///
/// Each message contains the bytes of a ``ProcessMessage/updatePart(_:)``. A message is created
/// when it is requested. A message exceeds ``WireLimits/softPartSize`` by at most one item, so it
/// is well below ``WireLimits/maximumMessageSize``. An update has at least one message. An
/// ``UpdateAssembler`` restores the update from the decoded messages.
public struct UpdateParts: Sequence, IteratorProtocol, Sendable {
  private var splitter: UpdateSplitter

  /// Creates the messages of an update.
  public init(_ update: Update) { splitter = UpdateSplitter(update) }

  /// Returns the next message; `nil` after the last message. The length of the message is not
  /// included.
  public mutating func next() -> [UInt8]? {
    splitter.next().map { ProcessMessage.updatePart($0).encoded() }
  }
}
