// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Joins the parts of an update that ``UpdateParts`` has created.
public struct UpdateAssembler: Sendable {
  /// The incomplete update; `nil` between two updates.
  private var update: Update?
  /// The number of parts of the incomplete update.
  private var partCount = 0
  private var byteCount = 0
  private var entryCount = 0
  private var idCount = 0

  private let mostEntries: Int
  private let mostIDs: Int

  /// Creates an assembler that expects the first part of an update.
  public init() {
    self.init(
      mostEntries: WireLimits.mostEntriesOfUpdate, mostIDs: WireLimits.mostIDsOfUpdate)
  }

  /// Creates an assembler that accepts a limited number of entries and of ids per update.
  init(mostEntries: Int, mostIDs: Int) {
    self.mostEntries = mostEntries
    self.mostIDs = mostIDs
  }

  /// Adds the next part of an update.
  ///
  /// - Returns: The complete update; `nil` if more parts follow.
  /// - Throws: `WireError` if the part does not follow the previous part, or if the update exceeds
  ///   ``WireLimits``. After an error, close the connection to the sender.
  public mutating func take(_ part: UpdatePart) throws(WireError) -> Update? {
    guard part.isFirst == (update == nil) else {
      throw WireError(
        part.isFirst
          ? "an update begins before the previous one is complete"
          : "a later part of an update arrived before its first part")
    }
    if part.isFirst { (partCount, byteCount, entryCount, idCount) = (0, 0, 0, 0) }
    partCount += 1
    byteCount += part.byteCount
    entryCount += part.entryCount
    idCount += part.idCount
    // The value is moved out of `update`, so that the lists of the value grow without a copy.
    var whole = update.take() ?? part.content
    try check(partCount, most: WireLimits.mostParts, "parts")
    try check(byteCount, most: WireLimits.mostBytesOfUpdate, "bytes")
    try check(entryCount, most: mostEntries, "entries")
    try check(idCount, most: mostIDs, "ids")
    if !part.isFirst { whole.append(part) }
    try check(whole.queues.count, most: WireLimits.mostQueues, "queues")
    try check(whole.runOrders.count, most: WireLimits.mostRunOrders, "run orders")
    try check(
      whole.runOrders.idCount, most: WireLimits.mostRunOrderIDs, "operations in run orders")
    try check(whole.groups?.groups.count ?? 0, most: WireLimits.mostGroups, "groups")
    if part.isLast {
      whole.removeRepetitions()
      return whole
    }
    update = whole
    return nil
  }

  private func check(_ count: Int, most: Int, _ what: String) throws(WireError) {
    guard count <= most else {
      throw WireError("an update has \(count) \(what); the limit is \(most)")
    }
  }
}

extension UpdatePart {
  /// The number of entries in all lists of the part. Lists of ids are not counted.
  fileprivate var entryCount: Int {
    content.changed.reduce(0) { $0 + ($1.attempts?.attempts.count ?? 0) } + content.queues.count
      + content.changed.count + (content.events?.events.count ?? 0)
      + (content.runs?.runs.count ?? 0) + content.warnings.count + content.kindTimes.count
      + (content.detail?.reasons.count ?? 0)
      + content.logs.reduce(0) { $0 + 1 + $1.lines.count } + content.runOrders.count
      + (content.groups?.groups.count ?? 0)
  }

  /// The number of ids in all lists of ids of the part.
  fileprivate var idCount: Int {
    let dependencies = content.changed.reduce(moreDependencies?.dependencies.count ?? 0) {
      $0 + $1.dependencies.count
    }
    let warned = content.warnings.reduce(0) { $0 + $1.operations.count + $1.awaited.count }
    let dependents = content.dependents.map { $0.subjects.count + $0.ids.count } ?? 0
    let detailed =
      content.detail.map { detail in
        detail.reasons.reduce(detail.awaitedOperations.count + detail.awaitedQueues.count) {
          $0 + $1.operations.count
        }
      } ?? 0
    return content.removed.count + dependencies + warned + dependents + detailed
      + content.runOrders.idCount
  }
}

extension [RunOrder] {
  /// The number of ids in all run orders together.
  fileprivate var idCount: Int { reduce(0) { $0 + $1.executing.count + $1.ready.count } }
}

extension Update {
  /// Appends the lists of the next part.
  fileprivate mutating func append(_ part: UpdatePart) {
    let content = part.content
    if let more = part.moreDependencies, changed.last?.id == more.operation {
      changed[changed.count - 1].dependencies += more.dependencies
    }
    queues += content.queues
    changed += content.changed
    removed += content.removed
    if let more = content.dependents {
      dependents?.subjects.formUnion(more.subjects)
      dependents?.ids += more.ids
    }
    if let more = content.events { events?.events += more.events }
    if let more = content.runs { runs?.runs += more.runs }
    warnings += content.warnings
    kindTimes.merge(content.kindTimes) { first, _ in first }
    logs += content.logs
    runOrders += content.runOrders
    if let more = content.groups, more.by == groups?.by { groups?.groups += more.groups }
    if let more = content.detail {
      detail?.reasons += more.reasons
      detail?.awaitedOperations += more.awaitedOperations
      detail?.awaitedQueues += more.awaitedQueues
    }
  }

  /// Removes each run order whose queue an earlier one has, and each group whose key an earlier one has. Only a wrong
  /// process sends them.
  fileprivate mutating func removeRepetitions() {
    var queues: Set<QueueReport.ID> = []
    runOrders.removeAll { !queues.insert($0.queue).inserted }
    var keys: Set<OperationGroups.Key> = []
    groups?.groups.removeAll { !keys.insert($0.key).inserted }
  }
}
