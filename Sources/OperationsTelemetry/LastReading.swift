// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The steps that make sure that every past event is reported before a session ends.
///
/// The collector waits for the interval to pass before it reads the events. When the interval is set to zero,
/// the collector uses the new interval from the round after the one in which it receives it. It receives the
/// interval together with a new interest. In the round in which it receives the next interest it reads the
/// events before it answers.
struct LastReading {
  enum Step: Equatable {
    case wait
    /// Set this interest next, without an interval.
    case watch(Interest)
    case end
  }

  private static let rounds = 2
  private let interest: Interest
  private var round = 0

  /// Whether an answer is expected.
  var hasBegun: Bool { round > 0 }

  init(after interest: Interest) { self.interest = interest }

  /// Returns the first step.
  mutating func begin() -> Step {
    guard !hasBegun else { return .wait }
    return next()
  }

  /// Returns the step that follows an update.
  mutating func take(_ update: Update) -> Step {
    // An id that no operation has. The request for its dependents identifies the answer, because the answer
    // repeats the id.
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
