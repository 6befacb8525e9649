// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Computes the detail of one operation (its quality of service, the reasons why it does not start,
/// and the objects that it waits for), at most a few times per second.
///
/// The computation searches the operation's queue. Therefore the computations take at most about
/// two percent of the time. Between two computations, the last detail is used.
struct DetailWatch {
  /// The shortest time between two computations of an operation's detail.
  static let interval = Duration.milliseconds(200)
  private static let share = 50
  /// The time after which the detail is computed again if a reason has a time left.
  private static let timeLeftInterval = Duration.seconds(1)

  private var last: OperationDetail?
  private var due = MonitorTime(nanoseconds: .min / 2)
  private var isOutdated = false
  /// Whether a reason of the last detail has a time left, which changes although no operation changes.
  private var hasTimeLeft = false

  /// The time of the next computation, if the last detail was used although operations may have
  /// changed, or if a reason of the last detail has a time left; otherwise `nil`.
  var nextAnswer: MonitorTime? {
    if isOutdated { return due }
    return hasTimeLeft ? due + Self.timeLeftInterval : nil
  }

  /// Cancels the scheduled computation of an operation's detail, because the viewer has not
  /// received its last update. The next update computes the detail again.
  mutating func postpone() {
    isOutdated = false
    hasTimeLeft = false
  }

  /// Returns the detail of an operation.
  ///
  /// - Parameters:
  ///   - id: The operation; `nil` if no detail is requested.
  ///   - now: The current time.
  ///   - clock: Returns the time at which the computation has ended.
  ///   - find: Computes the detail; returns `nil` if the operation has finished or no longer
  ///     exists.
  /// - Returns: The new or the last detail; `nil` if no detail is requested, or if the operation
  ///   has finished.
  mutating func answer(
    about id: OperationReport.ID?, at now: MonitorTime,
    clock: () -> MonitorTime = { MonitorTime.now },
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
    hasTimeLeft =
      last?.reasons.contains { $0.kind == .delayed || $0.kind == .startLimitReached } == true
    let end = clock()
    due = end + max(Self.interval, (end - now) * Self.share)
    return last
  }
}
