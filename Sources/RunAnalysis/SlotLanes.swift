// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// What ran in which slot of a queue.
///
/// Nobody is told in which of its slots a queue runs an operation. Each run gets the lowest slot that is
/// free when it starts, the earliest first: the slots that there must have been, and no more.
public struct SlotLanes: Sendable, Equatable {
  /// One operation's time in a slot.
  public struct Run: Sendable, Equatable {
    /// The operation.
    public var operation: OperationReport.ID
    /// When it started.
    public var start: MonitorTime
    /// When it finished; the end of the recording where it went on.
    public var end: MonitorTime

    /// How long it ran.
    public var duration: Duration { end - start }
  }

  /// The runs of each slot by start, none of which overlaps another; from the first slot on.
  public private(set) var lanes: [[Run]] = []

  /// Gives each run of a queue a slot.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - history: The run.
  public init(of queue: QueueReport.ID, in history: RunHistory) {
    self.init(
      history.operations.values.lazy.filter { $0.queue == queue }.compactMap { report in
        history.run(of: report).map {
          Run(operation: report.id, start: $0.lowerBound, end: $0.upperBound)
        }
      })
  }

  init(_ runs: some Sequence<Run>) {
    for run in runs.sorted(by: { ($0.start, $0.operation) < ($1.start, $1.operation) }) {
      let isFree = { (lane: [Run]) in lane.last.map { $0.end <= run.start } ?? true }
      if let lane = lanes.firstIndex(where: isFree) {
        lanes[lane].append(run)
      } else {
        lanes.append([run])
      }
    }
  }
}
