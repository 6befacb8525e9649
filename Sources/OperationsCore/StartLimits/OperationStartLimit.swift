// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The maximum number of operations that a queue starts in a period; see
/// ``OperationQueueSupplement/startLimit``.
///
/// ```swift
/// queue.startLimit = OperationStartLimit(5)  // five starts per second
/// queue.startLimit = OperationStartLimit(100, per: .seconds(60))
/// ```
public struct OperationStartLimit: Sendable, Hashable, CustomStringConvertible {
  /// The maximum number of starts in each period of time of the length ``period``; at least 1.
  public let count: Int
  /// The length of the period: at least one nanosecond, and at most 100 years.
  public let period: Duration
  /// The clock that measures the period.
  public let clock: any Clock<Duration>

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - count: The maximum number of starts in each period. Less than 1 counts as 1.
  ///   - period: The length of the period. Less than one nanosecond counts as one nanosecond, and more than
  ///     100 years as 100 years.
  ///   - clock: Measures the period.
  public init(
    _ count: Int, per period: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.count = max(1, count)
    self.period = max(.nanoseconds(1), min(period, .longest))
    self.clock = clock
  }

  /// Returns whether both limits have the same count, period and clock.
  public static func == (left: OperationStartLimit, right: OperationStartLimit) -> Bool {
    left.count == right.count && left.period == right.period
      && ClockIdentity(left.clock) == ClockIdentity(right.clock)
  }

  /// Feeds the count and the period into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    hasher.combine(period)
  }

  /// The limit as a short text, such as "5/s", "100/min" or "3 per 10 seconds".
  public var description: String {
    let units: [Duration: String] = [
      .seconds(1): "s", .seconds(60): "min", .seconds(3_600): "h", .seconds(86_400): "day",
    ]
    if let unit = units[period] { return "\(count)/\(unit)" }
    let (seconds, rest) = period.components
    return "\(count) per " + (rest == 0 ? "\(seconds) seconds" : "\(period)")
  }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// The maximum number of operations that the queue starts in a period of time; `nil`, the default, for no
  /// limit.
  ///
  /// The limit is exact: in no period of this length, wherever it begins, the queue starts more operations
  /// than the limit allows. If the queue has started none for a period, it can start the full number at once.
  /// After that, each start becomes possible when the start that is ``OperationStartLimit/count`` starts older
  /// is one period old. Operations that wait for the limit are ready, hold no slot, and start in the usual
  /// order. The width applies too. Barriers count as operations. Operations that were cancelled before their
  /// start finish at once and do not count.
  ///
  /// A new limit takes effect immediately and counts only later starts. An operation that the queue has chosen under
  /// the old limit, and that has not started, may count under the new one. Setting an equal limit changes
  /// nothing. With `nil`, all waiting operations can start. The limit can also be set on
  /// ``OperationQueue/main`` and on queues with an ``OperationQueue/underlyingQueue``. A start is the moment
  /// at which a thread is about to run the operation; the system may delay the thread after that.
  ///
  /// This property can be used on any thread.
  public var startLimit: OperationStartLimit? {
    get { core.scheduler.withLock { $0.limiter }?.limit }
    set { core.setStartLimit(newValue) }
  }
}
