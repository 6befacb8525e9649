// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The number of operations in each state.
///
/// `waiting + ready + executing + finished + cancelled == total` always holds. `held` and
/// `cancelling` are parts of these counts and are not added.
public struct StateCounts: Codable, Sendable, Equatable {
  /// Operations that are not ready.
  public var waiting: Int
  /// Operations that are ready and have not started, `held` included.
  public var ready: Int
  /// The part of `ready` whose queue is suspended.
  public var held: Int
  /// Operations that have started and have not finished.
  public var executing: Int
  /// The cancelled part of `executing` and `ready`.
  public var cancelling: Int
  /// Operations that finished without having been cancelled.
  public var finished: Int
  /// Operations that finished after having been cancelled.
  public var cancelled: Int
  /// Operations that were ever added to a queue. This is a separate exact counter, not a sum.
  public var total: Int

  /// Creates counts; every count defaults to zero.
  public init(
    waiting: Int = 0, ready: Int = 0, held: Int = 0, executing: Int = 0, cancelling: Int = 0,
    finished: Int = 0, cancelled: Int = 0, total: Int = 0
  ) {
    self.waiting = waiting
    self.ready = ready
    self.held = held
    self.executing = executing
    self.cancelling = cancelling
    self.finished = finished
    self.cancelled = cancelled
    self.total = total
  }

  /// Whether the sum of the parts is the total.
  public var isConsistent: Bool {
    waiting + ready + executing + finished + cancelled == total && held <= ready
      && cancelling <= executing + ready
  }

  /// The number of unfinished operations.
  package var unfinished: Int { waiting + ready + executing }

  /// The counts of the finished and cancelled operations only, for a process that has ended.
  package var over: StateCounts {
    StateCounts(finished: finished, cancelled: cancelled, total: finished + cancelled)
  }

  /// Returns the sum of two counts.
  public static func + (left: StateCounts, right: StateCounts) -> StateCounts {
    StateCounts(
      waiting: left.waiting + right.waiting, ready: left.ready + right.ready,
      held: left.held + right.held, executing: left.executing + right.executing,
      cancelling: left.cancelling + right.cancelling, finished: left.finished + right.finished,
      cancelled: left.cancelled + right.cancelled, total: left.total + right.total)
  }
}
