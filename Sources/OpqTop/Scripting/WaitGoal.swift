// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// The value of `--state`: the states to wait for. One of them is sufficient.
struct WaitGoal: Equatable {
  /// The word for `finished` and `cancelled` together.
  private static let over = "over"

  var states: Set<OperationState>

  /// The goal that operations are finished or cancelled.
  static let isOver = WaitGoal(states: [.finished, .cancelled])

  /// All valid words, for the help text.
  static var words: String {
    OperationState.allCases.map(\.rawValue).joined(separator: ", ") + " and \(over)"
  }

  /// Parses words that are separated by commas.
  ///
  /// - Throws: `ValidationError` if a word is not a state.
  @Sendable static func read(_ argument: String) throws -> WaitGoal {
    var goal = WaitGoal(states: [])
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      if word == over {
        goal.states.formUnion(isOver.states)
      } else if let state = OperationState(rawValue: String(word)) {
        goal.states.insert(state)
      } else {
        throw ValidationError("unknown state \"\(word)\"; the states are \(words)")
      }
    }
    return goal
  }

  /// How far an operation has come.
  enum Progress: Equatable {
    /// It is in one of the states, or was in one between two updates.
    case reached
    /// It may still reach one of the states.
    case underWay
    /// It has finished or was cancelled without having been in one of the states.
    case missed
  }

  /// Returns how far an operation has come.
  func progress(of report: OperationReport) -> Progress {
    if states.contains(report.state) { return .reached }
    // Updates have the current state, not each change.
    if states.contains(.executing), report.started != nil { return .reached }
    if states.contains(.ready), report.becameReady != nil { return .reached }
    if states.contains(.cancelling), report.cancelRequested != nil { return .reached }
    return report.state.isOver ? .missed : .underWay
  }
}
