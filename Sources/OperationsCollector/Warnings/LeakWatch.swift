// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Checks from time to time which operations still exist long after they have finished.
///
/// It keeps none of them alive: an operation holds its record, and this type references the record
/// weakly.
struct LeakWatch {
  /// How long an operation may exist after it has finished before a warning.
  static let patience = Duration.seconds(60)
  /// The maximum number of operations that are watched at once. If a program leaks operations
  /// repeatedly, some of them are watched in any case.
  static let capacity = 10_000
  /// The maximum number of dependents for a warning. Searching more of them for the holder would
  /// take too long.
  static let dependentLimit = 1_000
  /// The maximum number of operations per round.
  private static let roundLimit = 1_024
  /// The time between two rounds.
  private static let interval = Duration.seconds(1)

  /// One finished operation. Its entry is kept even if the table has removed it, if the entry is
  /// needed.
  private struct Watched {
    weak var record: OperationRecord?
    let entry: OperationEntry
    let finished: MonitorTime
    var isLeak = false
  }

  /// The watched operations, in the order in which they finished.
  private var watched: [Watched] = []
  private var ids: Set<OperationReport.ID> = []
  /// The index at which the next round begins.
  private var cursor = 0
  /// The time of the next round; `nil` if no operation is watched.
  private(set) var nextRound: MonitorTime?
  /// The current warnings.
  private(set) var warnings: [MonitorWarning] = []

  /// Adds a finished or cancelled operation, if there is room.
  mutating func note(_ entry: OperationEntry, _ record: OperationRecord) {
    guard let finished = entry.report.finished, watched.count < Self.capacity else { return }
    watched.append(Watched(record: record, entry: entry, finished: finished))
    ids.insert(entry.report.id)
    if nextRound == nil { nextRound = finished + Self.interval }
  }

  /// Checks some of the operations.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - lateDependents: Returns the operations that began to depend on an operation after the
  ///     table had removed it.
  ///   - isUnfinished: Returns whether an operation is known and unfinished.
  /// - Returns: Whether the warnings have changed.
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
            // A dependent holds the operation even after the dependent has finished. Then the
            // dependent is the leak.
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
