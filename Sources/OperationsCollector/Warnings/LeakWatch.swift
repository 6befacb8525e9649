// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Finds operations that still exist long after they have finished.
///
/// The search does not keep operations alive. An operation holds its record, and this type has only
/// a weak reference to the record.
struct LeakWatch {
  /// The time for which an operation may exist after it has finished before a warning.
  static let patience = Duration.seconds(60)
  /// The maximum number of finished operations that are watched at once. If a program leaks
  /// operations repeatedly, the limit is no problem, because some of the leaked operations are
  /// watched.
  static let capacity = 10_000
  /// The maximum number of dependents of an operation that can cause a warning. For an operation
  /// with more dependents, the search for a dependent that holds it would take too long.
  static let dependentLimit = 1_000
  /// The maximum number of operations that one round of the search examines.
  private static let roundLimit = 1_024
  /// The time between two rounds of the search for leaked operations.
  private static let interval = Duration.seconds(1)

  /// A finished operation that the search for leaks examines. Its entry is kept even after the
  /// table has removed the operation.
  private struct Candidate {
    weak var record: OperationRecord?
    let entry: OperationEntry
    let finished: MonitorTime
    var isLeak = false
  }

  /// The watched operations, in the order in which they finished.
  private var watched: [Candidate] = []
  private var ids: Set<OperationReport.ID> = []
  /// The index of the watched operation at which the next round of the search begins.
  private var cursor = 0
  /// The time of the next round of the search; `nil` if no operation is watched.
  private(set) var nextRound: MonitorTime?
  /// The current warnings about finished operations that still exist.
  private(set) var warnings: [MonitorWarning] = []

  /// Adds a finished or cancelled operation, unless the maximum number of operations is watched.
  mutating func note(_ entry: OperationEntry, _ record: OperationRecord) {
    guard let finished = entry.report.finished, watched.count < Self.capacity else { return }
    watched.append(Candidate(record: record, entry: entry, finished: finished))
    ids.insert(entry.report.id)
    if nextRound == nil { nextRound = finished + Self.interval }
  }

  /// Examines the next operations, up to the limit of one round.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - lateDependents: Returns the operations that began to depend on an operation after the
  ///     table had removed it.
  ///   - isUnfinished: Returns whether an operation is in the table and has not finished.
  /// - Returns: Whether the warnings have changed.
  mutating func look(
    at now: MonitorTime, lateDependents: (OperationReport.ID) -> [OperationEntry.Dependent],
    isUnfinished: (OperationReport.ID) -> Bool
  ) -> Bool {
    let end = min(cursor + Self.roundLimit, watched.count)
    var kept: [Candidate] = []
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
            // A dependent holds the operation even after the dependent has finished. In this case,
            // the dependent is the leak.
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
        title: first.title, count: leaks.count,
        since: first.finished)
    ]
  }
}
