// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import HeapModule
public import MonitorProtocol

/// The runs of operations in each slot of a queue.
///
/// A queue does not report the slots of its operations. Runs are assigned in the order of their start: each
/// run gets the lowest slot that is free at its start. Therefore the number of slots is as small as possible.
public struct SlotLanes: Sendable, Equatable {
  /// The run of one operation in a slot.
  public struct Run: Sendable, Equatable {
    /// The operation that ran.
    public var operation: OperationReport.ID
    /// The moment at which the operation started.
    public var start: MonitorTime
    /// The moment at which the operation finished. If it was still running, it is the end of the recording.
    public var end: MonitorTime

    /// How long the operation ran.
    public var duration: Duration { end - start }
  }

  /// The runs of each slot from the first slot on, sorted by start. Two runs in a slot never overlap.
  public private(set) var lanes: [[Run]] = []

  /// Assigns each run to a slot of its queue.
  ///
  /// - Parameter history: The history of the recorded process.
  /// - Returns: The slots of all queues in which an operation ran.
  public static func ofQueues(in history: RunHistory) -> [QueueReport.ID: SlotLanes] {
    var runs: [QueueReport.ID: [Run]] = [:]
    for report in history.operations.values {
      guard let span = history.run(of: report) else { continue }
      runs[report.queue, default: []].append(
        Run(operation: report.id, start: span.lowerBound, end: span.upperBound))
    }
    return runs.mapValues(SlotLanes.init)
  }

  /// A slot that contains a run, and the time at which this run ends.
  private struct Taken: Comparable {
    var end: MonitorTime
    var lane: Int

    static func < (left: Taken, right: Taken) -> Bool {
      (left.end, left.lane) < (right.end, right.lane)
    }
  }

  init(_ runs: [Run]) {
    var taken = Heap<Taken>()
    var free = Heap<Int>()
    for run in runs.sorted(by: { ($0.start, $0.operation) < ($1.start, $1.operation) }) {
      while let first = taken.min, first.end <= run.start {
        taken.removeMin()
        free.insert(first.lane)
      }
      let lane = free.popMin() ?? lanes.count
      if lane == lanes.count { lanes.append([]) }
      lanes[lane].append(run)
      taken.insert(Taken(end: run.end, lane: lane))
    }
  }
}
