// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import HeapModule
public import MonitorProtocol

/// The operations that ran in each slot of a queue.
///
/// A queue does not report in which slot it runs an operation. Each run gets the lowest slot that is free
/// when it starts, the earliest run first. The result has the smallest possible number of slots.
public struct SlotLanes: Sendable, Equatable {
  /// The time of one operation in a slot.
  public struct Run: Sendable, Equatable {
    /// The operation.
    public var operation: OperationReport.ID
    /// When it started.
    public var start: MonitorTime
    /// When it finished, or the end of the recording if it was still running.
    public var end: MonitorTime

    /// How long the operation ran.
    public var duration: Duration { end - start }
  }

  /// The runs of each slot by start, from the first slot on. No two runs of a slot overlap.
  public private(set) var lanes: [[Run]] = []

  /// Assigns a slot of its queue to each run.
  ///
  /// - Parameter history: The run of the process.
  /// - Returns: The slots of each queue in which an operation ran.
  public static func ofQueues(in history: RunHistory) -> [QueueReport.ID: SlotLanes] {
    var runs: [QueueReport.ID: [Run]] = [:]
    for report in history.operations.values {
      guard let span = history.run(of: report) else { continue }
      runs[report.queue, default: []].append(
        Run(operation: report.id, start: span.lowerBound, end: span.upperBound))
    }
    return runs.mapValues(SlotLanes.init)
  }

  /// A slot, and until when it is taken.
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
