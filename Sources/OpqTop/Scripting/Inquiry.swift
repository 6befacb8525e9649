// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A question or a command to a process. It receives messages and returns actions, and uses neither
/// a socket nor a clock.
protocol Inquiry {
  /// The data that the process has sent.
  var knowledge: ProcessKnowledge { get set }
  /// The interest that requests the necessary data from the process.
  var interest: Interest { get }
  /// The time at which the inquiry must check the data even if no message arrives; `nil` if no such
  /// check is needed.
  var nextLook: MonitorTime? { get }

  /// Whether the inquiry continues while the process does not answer. The default is `false`.
  var outlastsSilence: Bool { get }

  /// Checks whether the received data are sufficient. It is called after each message and at
  /// ``nextLook``.
  mutating func look(at now: MonitorTime) -> [InquiryAction]
  /// Processes the result of the inquiry's command.
  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction]
  /// Returns the output for the case that no further messages arrive. By default, there is no
  /// output.
  mutating func leave(at now: MonitorTime) -> [InquiryAction]
}

/// An action that an ``Inquiry`` requests from its loop.
enum InquiryAction: Equatable {
  /// The loop must send this command to the process.
  case send(MonitorCommand)
  /// The loop must write this text to standard output.
  case print(String)
  /// The loop must end the program with this exit status and, if there is a message, write the
  /// message to standard error. This is the last action.
  case end(Int32, String?)

  /// Ends the inquiry with success and without a message.
  static let success = end(0, nil)
}

extension Inquiry {
  var outlastsSilence: Bool { false }

  /// Processes a message of the process.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) -> [InquiryAction] {
    switch message {
    case .hello, .update:
      knowledge.take(message, at: now)
      return look(at: now)
    case .commandResult(let result): return take(result, at: now)
    case .silent(let duration):
      guard !outlastsSilence, duration >= ProcessKnowledge.longestPatience else { return [] }
      return leave(at: now) + [.end(1, "the process does not answer")]
    // If the connection is lost, the later states of operations are unknown.
    case .disconnected(let reason):
      return leave(at: now) + [.end(1, "connection lost: \(reason)")]
    case .ended(let reason): return leave(at: now) + [.end(1, reason)]
    }
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] { [] }

  mutating func leave(at now: MonitorTime) -> [InquiryAction] { [] }
}

/// The format of an answer to an ``Inquiry``.
struct InquiryForm: Equatable {
  /// Whether the answer is a line of JSON.
  var isJSON = false
  /// Whether text may contain characters other than ASCII.
  var isUnicode = true
}

extension String {
  /// Returns the message for operations that the process does not report. The process does not keep
  /// operations that finished long ago.
  static func unknown(_ ids: [OperationReport.ID]) -> String {
    let isOne = ids.count == 1
    let named = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
    let all = ids.count > 10 ? "\(named) and \(ids.count - 10) more" : named
    return isOne
      ? "\(all) is unknown: it finished long ago, is not in a queue, or never existed"
      : "\(all) are unknown: they finished long ago, are not in a queue, or never existed"
  }
}
