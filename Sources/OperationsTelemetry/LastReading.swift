// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The requests that make the collector report all past events before a session ends.
///
/// The collector normally waits until the session's interval has passed before it reads events. A
/// session sets a shorter interval together with a new interest, but the collector uses this
/// interval only from the following round on. Therefore two requests are necessary. The first
/// request sets the interval to zero. When the collector receives the second request, it reads all
/// events before it sends the update.
struct LastReading {
  enum Step: Equatable {
    case wait
    /// Request the data of this interest, and set the interval between two updates to zero.
    case watch(Interest)
    case end
  }

  private static let rounds = 2
  private let interest: Interest
  private var round = 0

  /// Whether the first of the two requests to the collector was made.
  var hasBegun: Bool { round > 0 }

  init(after interest: Interest) { self.interest = interest }

  /// Returns the first request. If it was already made, returns the step `wait`.
  mutating func begin() -> Step {
    guard !hasBegun else { return .wait }
    return next()
  }

  /// Returns the step to take after an update.
  mutating func take(_ update: Update) -> Step {
    // Each request has a subject: an id that no operation has. The update that answers a request
    // contains the same subject.
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
