// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The times of all operations of one kind.
public struct KindDistributions: Sendable, Equatable {
  /// The kind of the operations. It may contain any characters, so it is not safe to print.
  public var kind: String
  /// How long the operations of the kind ran.
  public var work: Distribution
  /// How long the operations waited for a slot; `nil` if none of these times is known.
  public var slotWait: Distribution?

  /// Returns the times of all kinds that have a finished operation. Kinds with the longest 90th
  /// percentile of the run time come first.
  ///
  /// - Parameter history: The history of the run.
  /// - Returns: The times of each kind.
  public static func slowest(of history: RunHistory) -> [KindDistributions] {
    var work: [String: [Duration]] = [:]
    var waits: [String: [Duration]] = [:]
    for report in history.operations.values {
      if let duration = report.work { work[report.kind, default: []].append(duration) }
      if let wait = report.slotWait { waits[report.kind, default: []].append(wait) }
    }
    let kinds = work.compactMap { kind, durations in
      Distribution(durations).map {
        KindDistributions(
          kind: kind, work: $0, slotWait: waits[kind].flatMap(Distribution.init))
      }
    }
    return kinds.sorted {
      let (first, second) = ($0.work.percentile(90), $1.work.percentile(90))
      return first == second ? $0.kind < $1.kind : first > second
    }
  }
}
