// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A question or a command to a process, from the first message to an exit status, without a socket
/// and without a clock.
protocol Inquiry {
  /// The received data.
  var knowledge: ProcessKnowledge { get set }
  /// The data that the inquiry needs.
  var interest: Interest { get }
  /// When the inquiry must check again although no message has arrived; `nil` if it need not.
  var nextLook: MonitorTime? { get }

  /// Whether the inquiry continues while the process does not answer; by default `false`.
  var outlastsSilence: Bool { get }

  /// Checks whether the data are sufficient. Called after each message, and at ``nextLook``.
  mutating func look(at now: MonitorTime) -> [InquiryAction]
  /// Handles the result of the inquiry's command.
  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction]
  /// Returns the output if no further messages come; by default none.
  mutating func leave(at now: MonitorTime) -> [InquiryAction]
}

/// An action of an ``Inquiry``.
enum InquiryAction: Equatable {
  /// Send this command.
  case send(MonitorCommand)
  /// Write this to standard output.
  case print(String)
  /// End with this exit status, and with a message for standard error if there is one. No further
  /// action follows.
  case end(Int32, String?)

  /// The end after success.
  static let success = end(0, nil)
}

extension Inquiry {
  var outlastsSilence: Bool { false }

  /// Handles a message of the process.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) -> [InquiryAction] {
    switch message {
    case .hello, .update:
      knowledge.take(message, at: now)
      return look(at: now)
    case .commandResult(let result): return take(result, at: now)
    case .silent(let duration):
      guard !outlastsSilence, duration >= ProcessKnowledge.longestPatience else { return [] }
      return leave(at: now) + [.end(1, "the process does not answer")]
    // Without a connection, the later states are unknown.
    case .disconnected(let reason):
      return leave(at: now) + [.end(1, "connection lost: \(reason)")]
    case .ended(let reason): return leave(at: now) + [.end(1, reason)]
    }
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] { [] }

  mutating func leave(at now: MonitorTime) -> [InquiryAction] { [] }
}

/// The format of the answer of an ``Inquiry``.
struct InquiryForm: Equatable {
  /// Whether the answer is a line of JSON.
  var isJSON = false
  /// Whether text may contain characters other than ASCII.
  var isUnicode = true
}

extension String {
  /// Returns the message for operations that the process does not report. Such an operation may
  /// have finished long ago and is no longer kept.
  static func unknown(_ ids: [OperationReport.ID]) -> String {
    let isOne = ids.count == 1
    let named = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
    let all = ids.count > 10 ? "\(named) and \(ids.count - 10) more" : named
    return isOne
      ? "\(all) is unknown: it finished long ago, is not in a queue, or never existed"
      : "\(all) are unknown: they finished long ago, are not in a queue, or never existed"
  }
}
