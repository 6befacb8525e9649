// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Looks now and then which operations still exist long after they have finished.
///
/// It keeps none of them alive: an operation holds its record, and this knows the record weakly.
struct LeakWatch {
  /// So long after its finish an operation may exist before it is said.
  static let patience = Duration.seconds(60)
  /// Of more operations than these at a time it is not looked whether they exist: of what a program
  /// does again and again some are watched all the same.
  static let capacity = 10_000
  /// Of what more others depend on it is not said: who holds it would take long to find.
  static let dependentLimit = 1_000
  /// So many are looked at in a round.
  private static let roundLimit = 1_024
  /// So often there is a round, while there is anything to be looked at.
  private static let interval = Duration.seconds(1)

  /// One operation that has finished. Its entry is kept although the table has forgotten it when it
  /// matters.
  private struct Watched {
    weak var record: OperationRecord?
    let entry: OperationEntry
    let finished: MonitorTime
    var isLeak = false
  }

  /// In the order of their finish.
  private var watched: [Watched] = []
  private var ids: Set<OperationReport.ID> = []
  /// Where the next round begins.
  private var cursor = 0
  /// When to look again; `nil` while there is nothing to be looked at.
  private(set) var nextRound: MonitorTime?
  /// What was found.
  private(set) var warnings: [MonitorWarning] = []

  /// Takes in an operation that is over, as long as there is room.
  mutating func note(_ entry: OperationEntry, _ record: OperationRecord) {
    guard let finished = entry.report.finished, watched.count < Self.capacity else { return }
    watched.append(Watched(record: record, entry: entry, finished: finished))
    ids.insert(entry.report.id)
    if nextRound == nil { nextRound = finished + Self.interval }
  }

  /// Looks at some of them.
  ///
  /// - Parameters:
  ///   - now: The present time.
  ///   - lateDependents: What has come to depend on an operation since the table has forgotten it.
  ///   - isUnfinished: Whether an operation is known that has not finished.
  /// - Returns: Whether there is something new to tell.
  mutating func look(
    at now: MonitorTime, lateDependents: (OperationReport.ID) -> [OperationEntry.Dependent],
    isUnfinished: (OperationReport.ID) -> Bool
  ) -> Bool {
    let end = min(cursor + Self.roundLimit, watched.count)
    var kept: [Watched] = []
    for var operation in watched[cursor..<end] {
      guard operation.record != nil else {
        ids.remove(operation.entry.report.id)
        continue
      }
      if now - operation.finished >= Self.patience {
        let entry = operation.entry
        operation.isLeak =
          entry.dependents.count <= Self.dependentLimit
          && ![entry.dependents, lateDependents(entry.report.id)].joined().contains {
            // What depends on it holds it after its own finish, too: that is to be let go of.
            isUnfinished($0.id) || ids.contains($0.id)
          }
      }
      kept.append(operation)
    }
    watched.replaceSubrange(cursor..<end, with: kept)
    cursor += kept.count
    if cursor >= watched.count { cursor = 0 }
    nextRound = watched.isEmpty ? nil : now + Self.interval
    let old = warnings
    warnings = currentWarnings
    return warnings != old
  }

  private var currentWarnings: [MonitorWarning] {
    let leaks = watched.lazy.filter(\.isLeak).map(\.entry.report)
    guard let first = leaks.first else { return [] }
    return [
      MonitorWarning(
        kind: .leaking, operations: leaks.prefix(MonitorWarning.operationLimit).map(\.id),
        title: first.name.isEmpty ? first.className : first.name, count: leaks.count,
        since: first.finished)
    ]
  }
}
