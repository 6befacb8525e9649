// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Finds critical paths: follows the dependencies of a finished operation back in time.
struct CriticalPathFinder {
  private let operations: [OperationReport.ID: OperationReport]
  private let queues: [QueueReport.ID: QueueReport]
  /// For each operation, its dependency that finished last before the operation was ready.
  private let predecessors: [OperationReport.ID: OperationReport.ID]
  /// For each queue, the operations that ran and finished in it, sorted by finish time.
  private var finishes: [QueueReport.ID: [(time: MonitorTime, id: OperationReport.ID)]] = [:]
  /// For each queue, the start times of its operations in ascending order.
  private var starts: [QueueReport.ID: [MonitorTime]] = [:]

  init(_ history: RunHistory) {
    let all = history.operations
    operations = all
    queues = history.queues
    predecessors = all.compactMapValues { Self.predecessor(of: $0, among: all) }
    for report in all.values {
      guard let started = report.started else { continue }
      starts[report.queue, default: []].append(started)
      guard let finished = report.finished else { continue }
      finishes[report.queue, default: []].append((finished, report.id))
    }
    for queue in starts.keys {
      starts[queue]?.sort()
      finishes[queue]?.sort { ($0.time, $0.id) < ($1.time, $1.id) }
    }
  }

  // MARK: Ends

  /// The operation that finished last; `nil` if no operation has finished.
  var lastFinisher: OperationReport.ID? {
    operations.values.compactMap { report in report.finished.map { (time: $0, id: report.id) } }
      .max { ($0.time, $1.id) < ($1.time, $0.id) }?.id
  }

  /// The operation at the end of the longest path; `nil` if no operation has finished.
  var endOfLongest: OperationReport.ID? {
    var starts: [OperationReport.ID: MonitorTime] = [:]
    return operations.values.compactMap { report in
      report.finished.map { finished in
        (duration: finished - start(ofPathTo: report.id, known: &starts), id: report.id)
      }
    }.max { ($0.duration, $1.id) < ($1.duration, $0.id) }?.id
  }

  /// Returns the time at which the path to an operation begins. Stores the results for all operations of the
  /// path in `known`.
  private func start(
    ofPathTo id: OperationReport.ID, known: inout [OperationReport.ID: MonitorTime]
  ) -> MonitorTime {
    var way: [OperationReport.ID] = []
    var next: OperationReport.ID? = id
    var seen: Set<OperationReport.ID> = []
    var start: MonitorTime?
    while let current = next, start == nil, seen.insert(current).inserted {
      start = known[current]
      way.append(current)
      next = predecessors[current]
    }
    let found =
      start ?? way.last.flatMap { operations[$0] }?.firstTime ?? MonitorTime(nanoseconds: 0)
    for id in way { known[id] = found }
    return found
  }

  // MARK: The path

  /// Returns the operations of the path to an operation, from the first to the last.
  func chain(endingWith last: OperationReport.ID) -> [OperationReport.ID] {
    var chain: [OperationReport.ID] = []
    var seen: Set<OperationReport.ID> = []
    var next: OperationReport.ID? = last
    // A cycle of dependencies is only possible in an incorrect recording.
    while let current = next, seen.insert(current).inserted {
      chain.append(current)
      next = predecessors[current]
    }
    return chain.reversed()
  }

  /// Returns whether the operation finished at or after a moment.
  func ends(_ id: OperationReport.ID, behind moment: MonitorTime) -> Bool {
    operations[id]?.finished.map { $0 >= moment } ?? false
  }

  /// Returns the segments of the path that belong to an operation. They begin when the previous operation of
  /// the path finished or, for the first operation, when the operation was added.
  func segments(of id: OperationReport.ID) -> [CriticalPath.Segment] {
    guard let report = operations[id], let finished = report.finished else { return [] }
    let begin =
      predecessors[id].flatMap { operations[$0]?.finished } ?? report.firstTime ?? finished
    let isUnknown = report.started == nil && report.state != .cancelled
    let started = max(begin, min(report.started ?? finished, finished))
    let ready = max(begin, min(report.becameReady ?? report.started ?? begin, started))
    let added = max(begin, min(report.added ?? begin, ready))
    var segments: [CriticalPath.Segment] = []
    func add(_ kind: CriticalPath.Kind, _ start: MonitorTime, _ end: MonitorTime) {
      guard start < end else { return }
      segments.append(.init(operation: id, kind: kind, start: start, end: end))
    }
    add(.unaccounted, begin, added)
    add(.dependencyWait, added, ready)
    add(isUnknown ? .unaccounted : .slotWait, ready, started)
    if segments.last?.kind == .slotWait {
      segments[segments.count - 1].freedBy = slotFreer(for: report, from: ready, to: started)
    }
    add(.work, started, finished)
    return segments
  }

  /// Returns the dependency that finished last before an operation was ready; `nil` if no dependency is
  /// known.
  private static func predecessor(
    of report: OperationReport, among operations: [OperationReport.ID: OperationReport]
  ) -> OperationReport.ID? {
    guard let latest = report.becameReady ?? report.started ?? report.finished else { return nil }
    return report.dependencies.compactMap { id in
      operations[id]?.finished.map { (time: $0, id: id) }
    }.filter { $0.time <= latest }.max { ($0.time, $1.id) < ($1.time, $0.id) }?.id
  }

  /// Returns the operation that freed the slot for which another operation waited: the last operation of the
  /// same queue that finished during the wait. If a slot was free before that operation finished, the result
  /// is `nil`: the waiting operation then waited for a barrier, or the queue was suspended.
  private func slotFreer(
    for report: OperationReport, from ready: MonitorTime, to started: MonitorTime
  ) -> OperationReport.ID? {
    guard let finishes = finishes[report.queue], let starts = starts[report.queue],
      let width = queues[report.queue]?.width
    else { return nil }
    let count = finishes.partitioningIndex { $0.time > started }
    guard count > 0, finishes[count - 1].time > ready, finishes[count - 1].id != report.id else {
      return nil
    }
    let freed = finishes[count - 1]
    let running =
      starts.partitioningIndex { $0 >= freed.time }
      - finishes.partitioningIndex { $0.time >= freed.time }
    return running >= width ? freed.id : nil
  }
}

extension Array {
  /// Returns the index of the first element that meets a condition; the number of elements if none meets it.
  /// All elements after an element that meets the condition must meet it too.
  fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension OperationReport {
  /// The earliest known time of the operation.
  fileprivate var firstTime: MonitorTime? { added ?? becameReady ?? started ?? finished }
}
