// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// One question to a process, or one command, from its first message to an exit status: without a socket
/// and without a clock.
protocol Inquiry {
  /// What is known so far.
  var knowledge: ProcessKnowledge { get set }
  /// What it has to be told of.
  var interest: Interest { get }
  /// When it wants to look again although nothing was told; `nil` where there is no need.
  var nextLook: MonitorTime? { get }

  /// Whether it goes on where the process is stopped; by default it does not.
  var outlastsSilence: Bool { get }

  /// Looks whether what is known is enough. After each message, and at ``nextLook``.
  mutating func look(at now: MonitorTime) -> [InquiryAction]
  /// Takes what became of its command.
  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction]
  /// What there is to print where nothing more comes; by default nothing.
  mutating func leave(at now: MonitorTime) -> [InquiryAction]
}

/// What an ``Inquiry`` wants to be done.
enum InquiryAction: Equatable {
  /// Give this command.
  case send(MonitorCommand)
  /// Write this on standard output.
  case print(String)
  /// It is over, with this exit status, and with a sentence for standard error where there is something
  /// to say. Nothing comes after it.
  case end(Int32, String?)

  /// It is over, and all is well.
  static let success = end(0, nil)
}

extension Inquiry {
  var outlastsSilence: Bool { false }

  /// Takes in what the process says.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) -> [InquiryAction] {
    switch message {
    case .hello, .update:
      knowledge.take(message, at: now)
      return look(at: now)
    case .commandResult(let result): return take(result, at: now)
    case .silent(let duration):
      guard !outlastsSilence, duration >= ProcessKnowledge.longestPatience else { return [] }
      return leave(at: now) + [.end(1, "the process does not answer")]
    // Nobody knows what happens meanwhile.
    case .disconnected(let reason):
      return leave(at: now) + [.end(1, "the connection is lost: \(reason)")]
    case .ended(let reason): return leave(at: now) + [.end(1, reason)]
    }
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] { [] }

  mutating func leave(at now: MonitorTime) -> [InquiryAction] { [] }
}

/// What an ``Inquiry`` is about, and how it answers.
struct InquiryForm: Equatable {
  /// Whether the answer is a line of JSON.
  var isJSON = false
  /// Whether text may hold more than ASCII.
  var isUnicode = true
}

extension String {
  /// What is said of an operation that the process does not tell of. It may have finished long ago: then
  /// nothing is known of it any more.
  static func unknown(_ ids: [OperationReport.ID]) -> String {
    let isOne = ids.count == 1
    let named = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
    let all = ids.count > 10 ? "\(named) and \(ids.count - 10) more" : named
    return isOne
      ? "\(all) is not known: it has finished and is no longer kept, is in no queue, or never was"
      : "\(all) are not known: they have finished and are no longer kept, are in no queue, or never were"
  }
}
