// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Makes sure that everything that has happened has been told, before a session ends.
///
/// The collector lets the interval pass before it reads what has happened. Asked to let none pass it
/// does so from the round after the one in which it learns that. It learns of it together with a new
/// interest, and in the round in which it learns of the next interest it reads before it answers.
struct LastReading {
  enum Step: Equatable {
    case wait
    /// To be watched next, without an interval.
    case watch(Interest)
    case end
  }

  private static let rounds = 2
  private let interest: Interest
  private var round = 0

  /// Whether there is an answer to come.
  var hasBegun: Bool { round > 0 }

  init(after interest: Interest) { self.interest = interest }

  /// What is to be done first.
  mutating func begin() -> Step {
    guard !hasBegun else { return .wait }
    return next()
  }

  /// What is to be done after an update.
  mutating func take(_ update: Update) -> Step {
    // No operation has such an id: what depends on it is asked for because the answer names it.
    guard hasBegun, update.dependents?.subjects == [subject] else { return .wait }
    return round == Self.rounds ? .end : next()
  }

  private var subject: OperationReport.ID { OperationReport.ID(.max - UInt64(round)) }

  private mutating func next() -> Step {
    round += 1
    var interest = interest
    interest.subjects = [subject]
    return .watch(interest)
  }
}
