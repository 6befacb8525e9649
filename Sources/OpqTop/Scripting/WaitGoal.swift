// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// The value of `--state`: the states to wait for. An operation reaches the goal in any of them.
struct WaitGoal: Equatable {
  /// The word that means finished, failed and cancelled.
  private static let over = "over"

  var states: Set<OperationState>

  /// The goal that operations have finished or were cancelled.
  static let isOver = WaitGoal(states: [.finished, .failed, .cancelled])

  /// All words that `--state` accepts, for the help text.
  static var words: String {
    OperationState.words.map(\.word).joined(separator: ", ") + " and \(over)"
  }

  /// Parses the names of states, separated by commas.
  ///
  /// - Throws: `ValidationError` if a word is not a state.
  @Sendable static func read(_ argument: String) throws -> WaitGoal {
    var goal = WaitGoal(states: [])
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      if word == over {
        goal.states.formUnion(isOver.states)
      } else if let known = OperationState.words.first(where: { $0.word == word }) {
        goal.states.formUnion(known.states)
      } else {
        throw ValidationError("unknown state \"\(word)\"; the states are \(words)")
      }
    }
    return goal
  }

  /// The progress of an operation towards the states that `opq-top wait` waits for.
  enum Progress: Equatable {
    /// The operation is in one of the states, or was in one of them between two updates.
    case reached
    /// The operation may still reach one of the states.
    case underWay
    /// The operation has finished or was cancelled, and can no longer reach any of the states.
    case missed
  }

  /// Returns the progress of an operation towards the states that `opq-top wait` waits for.
  func progress(of report: OperationReport) -> Progress {
    if states.contains(report.state) { return .reached }
    // An update contains only the current state of an operation. A start time shows that the
    // operation was executing.
    if states.contains(.executing), report.started != nil { return .reached }
    if states.contains(.ready), report.becameReady != nil { return .reached }
    if states.contains(.cancelling), report.cancelRequested != nil { return .reached }
    return report.state.isOver ? .missed : .underWay
  }
}
