// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How long operations waited and ran lately, all together and for each class.
struct TimeHistograms {
  /// Classes beyond so many have no statistics of their own: each takes 16 kB.
  static let classLimit = 256

  private struct Times {
    var wait: RecentDurations
    var run: RecentDurations

    init(_ precision: RecentDurations.Precision) {
      wait = RecentDurations(precision)
      run = wait
    }

    mutating func note(_ report: OperationReport) {
      guard let started = report.started, let finished = report.finished else { return }
      run.note(finished - started, at: finished)
      guard let ready = report.becameReady else { return }
      wait.note(started - ready, at: finished)
    }

    var statistics: TimeStatistics {
      TimeStatistics(wait: wait.percentiles, run: run.percentiles)
    }
  }

  private var all = Times(.fine)
  private var classes: [String: Times] = [:]

  /// Takes in an operation that is over; one that never ran, or of which that is not known, is
  /// ignored.
  mutating func note(_ report: OperationReport) {
    guard report.started != nil, report.finished != nil else { return }
    all.note(report)
    guard classes.count < Self.classLimit || classes[report.className] != nil else { return }
    classes[report.className, default: Times(.coarse)].note(report)
  }

  /// All operations together.
  var statistics: TimeStatistics { all.statistics }

  /// The operations of one class; `nil` where none of it has run lately.
  func statistics(ofClass name: String) -> TimeStatistics? { classes[name]?.statistics }
}
