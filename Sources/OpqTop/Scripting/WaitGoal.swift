// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// The value of `--state`: the states that are waited for, any of which will do.
struct WaitGoal: Equatable {
  /// The word for `finished` and `cancelled` together.
  private static let over = "over"

  var states: Set<OperationState>

  /// That operations have left their queues, whichever way.
  static let isOver = WaitGoal(states: [.finished, .cancelled])

  /// All words that there are, for help.
  static var words: String {
    OperationState.allCases.map(\.rawValue).joined(separator: ", ") + " and \(over)"
  }

  /// Reads words with commas between them.
  ///
  /// - Throws: `ValidationError` where one is no state.
  @Sendable static func read(_ argument: String) throws -> WaitGoal {
    var goal = WaitGoal(states: [])
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      if word == over {
        goal.states.formUnion(isOver.states)
      } else if let state = OperationState(rawValue: String(word)) {
        goal.states.insert(state)
      } else {
        throw ValidationError("there is no state \"\(word)\": there are \(words)")
      }
    }
    return goal
  }

  /// What has become of an operation.
  enum Progress: Equatable {
    /// It is in one of the states, or was while nobody looked.
    case reached
    /// It may get there.
    case underWay
    /// It is over without having been there.
    case missed
  }

  /// How far an operation has come.
  func progress(of report: OperationReport) -> Progress {
    if states.contains(report.state) { return .reached }
    // Updates tell of what is, not of each step.
    if states.contains(.executing), report.started != nil { return .reached }
    if states.contains(.ready), report.becameReady != nil { return .reached }
    if states.contains(.cancelling), report.cancelRequested != nil { return .reached }
    return report.state.isOver ? .missed : .underWay
  }
}
