// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The times of the operations of one class.
public struct ClassDistributions: Sendable, Equatable {
  /// The name of the class, without the module; unsanitised.
  public var className: String
  /// How long the operations ran.
  public var work: Distribution
  /// How long they waited for a slot; `nil` if no such time is known.
  public var slotWait: Distribution?

  /// Returns the times of all classes with a finished operation. The order is by the duration that nine of
  /// ten operations do not exceed, the longest first.
  ///
  /// - Parameter history: The run.
  /// - Returns: The classes and their times.
  public static func slowest(of history: RunHistory) -> [ClassDistributions] {
    var work: [String: [Duration]] = [:]
    var waits: [String: [Duration]] = [:]
    for report in history.operations.values {
      if let duration = report.work { work[report.className, default: []].append(duration) }
      if let wait = report.slotWait { waits[report.className, default: []].append(wait) }
    }
    let classes = work.compactMap { name, durations in
      Distribution(durations).map {
        ClassDistributions(
          className: name, work: $0, slotWait: waits[name].flatMap(Distribution.init))
      }
    }
    return classes.sorted {
      let (first, second) = ($0.work.percentile(90), $1.work.percentile(90))
      return first == second ? $0.className < $1.className : first > second
    }
  }
}
