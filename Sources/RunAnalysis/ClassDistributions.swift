// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The times of all operations of one class.
public struct ClassDistributions: Sendable, Equatable {
  /// The name of the class without the name of its module. The name may contain any characters, so it is not
  /// safe to print.
  public var className: String
  /// How long the operations of the class ran.
  public var work: Distribution
  /// How long the operations waited for a slot; `nil` if none of these times is known.
  public var slotWait: Distribution?

  /// Returns the times of all classes that have a finished operation. Classes with the longest 90th
  /// percentile of the run time come first.
  ///
  /// - Parameter history: The history of the run.
  /// - Returns: The times of each class.
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
