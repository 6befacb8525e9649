// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The counts of dependencies in words.
enum DependencyText {
  /// How many are met, of how many: `2/3`.
  static func met(_ report: OperationReport) -> String {
    "\(short(report.metDependencyCount))/\(short(report.dependencies.count))"
  }

  private static func short(_ count: Int) -> String {
    count < 1_000 ? "\(count)" : "\(count / 1_000)k"
  }
}
