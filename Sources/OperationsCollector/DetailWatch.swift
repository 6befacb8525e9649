// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Finds out what is told of one operation alone.
///
/// The operation's queue is looked through for that, so it is done so rarely that it takes a fiftieth
/// of the time; in between the last answer stands.
struct DetailWatch {
  /// It is not done more often than this.
  static let interval = Duration.milliseconds(200)
  private static let share = 50

  private var last: OperationDetail?
  private var due = MonitorTime(nanoseconds: .min / 2)
  private var isOutdated = false

  /// When there may be something new although nothing changes: what has changed since the last answer
  /// was not looked at. `nil` where nothing has.
  var nextAnswer: MonitorTime? { isOutdated ? due : nil }

  /// Nobody takes an answer at present: who has taken the last update asks by itself.
  mutating func postpone() { isOutdated = false }

  /// What is to be told of an operation now.
  ///
  /// - Parameters:
  ///   - id: Which one; `nil` where nothing is to be told.
  ///   - now: The current time.
  ///   - clock: Says when finding it out has ended.
  ///   - find: Finds it out; `nil` where the operation is over or gone.
  /// - Returns: What was found out, now or before; `nil` where there is nothing to tell.
  mutating func answer(
    about id: OperationReport.ID?, at now: MonitorTime,
    clock: () -> MonitorTime = { ProcessFacts.now },
    find: (OperationReport.ID) -> OperationDetail?
  ) -> OperationDetail? {
    guard let id else {
      self = DetailWatch()
      return nil
    }
    if last?.id == id, now < due {
      isOutdated = true
      return last
    }
    last = find(id)
    isOutdated = false
    let end = clock()
    due = end + max(Self.interval, (end - now) * Self.share)
    return last
  }
}
