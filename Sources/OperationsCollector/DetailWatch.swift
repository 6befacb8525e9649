// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Computes the detail of one operation.
///
/// This requires a search through the operation's queue, so it is limited to about two percent of
/// the time. In between, the last result is used.
struct DetailWatch {
  /// The shortest time between two computations.
  static let interval = Duration.milliseconds(200)
  private static let share = 50

  private var last: OperationDetail?
  private var due = MonitorTime(nanoseconds: .min / 2)
  private var isOutdated = false

  /// When the detail may change although no operation does, because changes after the last
  /// computation were not examined; `nil` if there were none.
  var nextAnswer: MonitorTime? { isOutdated ? due : nil }

  /// Ends the wait for a computation: the viewer has received no update, and its next request
  /// triggers one.
  mutating func postpone() { isOutdated = false }

  /// Returns the detail of an operation.
  ///
  /// - Parameters:
  ///   - id: The operation; `nil` if no detail is requested.
  ///   - now: The current time.
  ///   - clock: Returns the time at which the computation has ended.
  ///   - find: Computes the detail; `nil` if the operation has finished or no longer exists.
  /// - Returns: The new or the last detail; `nil` if there is none.
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
