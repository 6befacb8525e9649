// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The number of operations in each state.
///
/// `waiting + ready + executing + finished + cancelled == total` always holds. `held`,
/// `cancelling` and `failed` are not part of this sum, because other counts include them.
public struct StateCounts: Codable, Sendable, Equatable {
  /// The number of operations that are not ready.
  public var waiting: Int
  /// The number of operations that are ready and have not started, including `held`.
  public var ready: Int
  /// The number of ready operations in suspended queues.
  public var held: Int
  /// The number of operations that have started and have not finished.
  public var executing: Int
  /// The number of executing and ready operations that were cancelled.
  public var cancelling: Int
  /// The number of operations that have finished and were not cancelled.
  public var finished: Int
  /// The number of operations that have finished with an error and were not cancelled. `finished` includes
  /// them.
  public var failed: Int
  /// The number of operations that have finished and were cancelled.
  public var cancelled: Int
  /// The number of operations that were ever added to a queue. The queue counts them separately;
  /// this value is not a sum of the other counts.
  public var total: Int

  /// Creates counts. Every count is zero by default.
  public init(
    waiting: Int = 0, ready: Int = 0, held: Int = 0, executing: Int = 0, cancelling: Int = 0,
    finished: Int = 0, failed: Int = 0, cancelled: Int = 0, total: Int = 0
  ) {
    self.waiting = waiting
    self.ready = ready
    self.held = held
    self.executing = executing
    self.cancelling = cancelling
    self.finished = finished
    self.failed = failed
    self.cancelled = cancelled
    self.total = total
  }

  /// Whether the counts do not contradict each other.
  public var isConsistent: Bool {
    waiting + ready + executing + finished + cancelled == total && held <= ready
      && cancelling <= executing + ready && failed <= finished
  }

  /// Adds one operation in a state.
  ///
  /// An operation that is cancelling counts as executing, even if it has not started.
  package mutating func add(_ state: OperationState) { add(state, 1) }

  /// Removes one operation in a state, which was added before.
  package mutating func remove(_ state: OperationState) { add(state, -1) }

  private mutating func add(_ state: OperationState, _ change: Int) {
    total += change
    switch state {
    case .waiting: waiting += change
    case .ready: ready += change
    case .held:
      ready += change
      held += change
    case .executing: executing += change
    case .cancelling:
      executing += change
      cancelling += change
    case .finished: finished += change
    case .failed:
      finished += change
      failed += change
    case .cancelled: cancelled += change
    }
  }

  /// The number of unfinished operations.
  package var unfinished: Int { waiting + ready + executing }

  /// The counts without unfinished operations, for a process that has ended.
  package var over: StateCounts {
    StateCounts(
      finished: finished, failed: failed, cancelled: cancelled, total: finished + cancelled)
  }

  /// The maximum of a sum of counts: the largest sum that one process can report. All counts
  /// together can be added without overflow.
  private static let largestSum = Int(WireLimits.largestCount) * WireLimits.mostQueues

  /// Returns the sum of two counts. A sum is clamped to the largest sum that one process can report.
  public static func + (left: StateCounts, right: StateCounts) -> StateCounts {
    func sum(_ left: Int, _ right: Int) -> Int { min(left.addingSaturating(right), largestSum) }
    return StateCounts(
      waiting: sum(left.waiting, right.waiting), ready: sum(left.ready, right.ready),
      held: sum(left.held, right.held), executing: sum(left.executing, right.executing),
      cancelling: sum(left.cancelling, right.cancelling),
      finished: sum(left.finished, right.finished), failed: sum(left.failed, right.failed),
      cancelled: sum(left.cancelled, right.cancelled), total: sum(left.total, right.total))
  }
}

extension StateCounts {
  /// Reads counts from a decoder. Earlier versions did not encode `failed`, which is then 0.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func count(_ key: CodingKeys) throws -> Int { try container.decode(Int.self, forKey: key) }
    self.init(
      waiting: try count(.waiting), ready: try count(.ready), held: try count(.held),
      executing: try count(.executing), cancelling: try count(.cancelling),
      finished: try count(.finished),
      failed: try container.decodeIfPresent(Int.self, forKey: .failed) ?? 0,
      cancelled: try count(.cancelled), total: try count(.total))
  }
}
