// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How many operations are in each state.
///
/// `waiting + ready + executing + finished + cancelled == total`, always. `held` and `cancelling`
/// are parts of these and are not added.
public struct StateCounts: Codable, Sendable, Equatable {
  /// Operations that are not ready.
  public var waiting: Int
  /// Operations that are ready and have not started, `held` included.
  public var ready: Int
  /// The part of `ready` whose queue is suspended.
  public var held: Int
  /// Operations that have started and not finished.
  public var executing: Int
  /// The cancelled part of `executing` and `ready`.
  public var cancelling: Int
  /// Operations that finished without having been cancelled.
  public var finished: Int
  /// Operations that finished after having been cancelled.
  public var cancelled: Int
  /// Operations ever added to a queue. An exact counter of its own, not a sum.
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

  /// Whether the parts add up to the total.
  public var isConsistent: Bool {
    waiting + ready + executing + finished + cancelled == total && held <= ready
      && cancelling <= executing + ready
  }

  /// How many operations have not finished.
  package var unfinished: Int { waiting + ready + executing }

  /// What is left of these where nothing goes on any more: those that are over.
  package var over: StateCounts {
    StateCounts(finished: finished, cancelled: cancelled, total: finished + cancelled)
  }

  /// The counts of two sets of operations together.
  public static func + (left: StateCounts, right: StateCounts) -> StateCounts {
    StateCounts(
      waiting: left.waiting + right.waiting, ready: left.ready + right.ready,
      held: left.held + right.held, executing: left.executing + right.executing,
      cancelling: left.cancelling + right.cancelling, finished: left.finished + right.finished,
      cancelled: left.cancelled + right.cancelled, total: left.total + right.total)
  }
}
