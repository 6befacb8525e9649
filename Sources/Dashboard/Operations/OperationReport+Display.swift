// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationReport {
  /// How long it has been in its state, or how long it ran where it is over.
  ///
  /// `nil` where that is not known, or where it is over and never ran.
  func time(at now: MonitorTime) -> Duration? {
    if state.isOver {
      guard let started, let finished else { return nil }
      return max(.zero, finished - started)
    }
    return stateEntered.map { max(.zero, now - $0) }
  }

  /// How many of its dependencies have finished.
  var metDependencyCount: Int { max(0, dependencies.count - unmetDependencyCount) }
}

extension OperationState {
  /// The role in which the state's word is drawn.
  var role: Role {
    switch self {
    case .waiting: .waiting
    case .ready: .ready
    case .held: .held
    case .executing: .executing
    case .cancelling: .cancelling
    case .finished: .finished
    case .cancelled: .cancelled
    }
  }
}

extension OperationPriority {
  /// The word in full.
  var word: String {
    switch self {
    case .veryLow: "very low"
    case .low: "low"
    case .normal: "normal"
    case .high: "high"
    case .veryHigh: "very high"
    }
  }

  /// The word for narrow columns, at most five letters.
  var shortWord: String {
    switch self {
    case .veryLow: "vlow"
    case .low: "low"
    case .normal: "norm"
    case .high: "high"
    case .veryHigh: "vhigh"
    }
  }
}

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
