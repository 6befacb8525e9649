// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationReport {
  /// Returns how long the operation has been in its state or, if it has ended, how long it ran. The result is
  /// `nil` if this time is unknown, or if the operation has ended and never ran.
  func time(at now: MonitorTime) -> Duration? {
    if state.isOver {
      guard let started, let finished, !neverRan else { return nil }
      return max(.zero, finished - started)
    }
    return stateEntered.map { max(.zero, now - $0) }
  }

  /// Returns the text of ``time(at:)``. If the operation executes and its start is unknown, the result is the
  /// time for which it has executed at least: `>12s`.
  func timeText(at now: MonitorTime) -> String? {
    if let time = time(at: now) { return TimeText.duration(time) }
    return foundExecuting.map { TimeText.atLeast(now - $0) }
  }

  /// The class or, if the program has set a kind, the kind and the class: a label, and the words after it.
  var kindFact: (String, [Span]) {
    guard let givenKind else { return ("class", [Span(className)]) }
    return ("kind", [Span(givenKind), Span(" \(className)", .dim)])
  }

  /// The number of dependencies that have finished.
  var metDependencyCount: Int { max(0, dependencies.count - unmetDependencyCount) }
}

extension OperationState {
  /// The role that determines the color of the state's name on the screen.
  var role: Role {
    switch self {
    case .waiting: .waiting
    case .ready: .ready
    case .held: .held
    case .executing: .executing
    case .cancelling: .cancelling
    case .finished: .finished
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }
}

extension OperationPriority {
  /// The name of the priority in full.
  var word: String {
    switch self {
    case .veryLow: "very low"
    case .low: "low"
    case .normal: "normal"
    case .high: "high"
    case .veryHigh: "very high"
    }
  }

  /// The name of the priority for narrow columns, with at most five letters.
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

extension OperationQualityOfService {
  /// The name of the quality of service for narrow columns, with at most five letters; `nil` if none was set.
  var shortWord: String? {
    switch self {
    case .userInteractive: "inter"
    case .userInitiated: "init"
    case .utility: "util"
    case .background: "back"
    case .default: nil
    }
  }
}

/// Formats the counts of dependencies.
enum DependencyText {
  /// Returns the number of finished dependencies and of all dependencies: `2/3`.
  static func met(_ report: OperationReport) -> String {
    "\(short(report.metDependencyCount))/\(short(report.dependencies.count))"
  }

  private static func short(_ count: Int) -> String { CountText.text(count, cells: 3) }
}
