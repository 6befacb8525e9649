// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Walks from what finished to what it waited for.
struct CriticalPathFinder {
  private let operations: [OperationReport.ID: OperationReport]
  /// By queue: what ran and finished there, by time.
  private let finishes: [QueueReport.ID: [(time: MonitorTime, id: OperationReport.ID)]]

  init(_ history: RunHistory) {
    operations = history.operations
    var finishes: [QueueReport.ID: [(time: MonitorTime, id: OperationReport.ID)]] = [:]
    for report in operations.values {
      guard let finished = report.finished, report.started != nil else { continue }
      finishes[report.queue, default: []].append((finished, report.id))
    }
    for queue in finishes.keys {
      finishes[queue]?.sort { ($0.time, $0.id) < ($1.time, $1.id) }
    }
    self.finishes = finishes
  }

  // MARK: Ends

  /// The operation that finished last; `nil` where none has.
  var lastFinisher: OperationReport.ID? {
    operations.values.compactMap { report in report.finished.map { (time: $0, id: report.id) } }
      .max { ($0.time, $1.id) < ($1.time, $0.id) }?.id
  }

  /// The end of the path that takes longest; `nil` where nothing has finished.
  var endOfLongest: OperationReport.ID? {
    var starts: [OperationReport.ID: MonitorTime] = [:]
    return operations.values.compactMap { report in
      report.finished.map { finished in
        (duration: finished - start(ofPathTo: report.id, known: &starts), id: report.id)
      }
    }.max { ($0.duration, $1.id) < ($1.duration, $0.id) }?.id
  }

  /// When the path to an operation begins. What was found before, by the end of the path, grows.
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
      next = predecessor(of: current)
    }
    let found =
      start ?? way.last.flatMap { operations[$0] }?.firstTime ?? MonitorTime(nanoseconds: 0)
    for id in way { known[id] = found }
    return found
  }

  // MARK: The path

  /// The operations of the path to one, the first one first.
  func chain(endingWith last: OperationReport.ID) -> [OperationReport.ID] {
    var chain: [OperationReport.ID] = []
    var seen: Set<OperationReport.ID> = []
    var next: OperationReport.ID? = last
    // Only a recording that is not true has a circle.
    while let current = next, seen.insert(current).inserted {
      chain.append(current)
      next = predecessor(of: current)
    }
    return chain.reversed()
  }

  /// What the time was spent with from when the one before it on the path finished, or from when it was
  /// added where there is none, until it finished.
  func segments(of id: OperationReport.ID) -> [CriticalPath.Segment] {
    guard let report = operations[id], let finished = report.finished else { return [] }
    let begin =
      predecessor(of: id).flatMap { operations[$0]?.finished } ?? report.firstTime ?? finished
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

  /// The dependency that finished last before an operation was ready; `nil` where none is known.
  private func predecessor(of id: OperationReport.ID) -> OperationReport.ID? {
    guard let report = operations[id],
      let latest = report.becameReady ?? report.started ?? report.finished
    else { return nil }
    return report.dependencies.compactMap { id in
      operations[id]?.finished.map { (time: $0, id: id) }
    }.filter { $0.time <= latest }.max { ($0.time, $1.id) < ($1.time, $0.id) }?.id
  }

  /// The last operation of its queue that finished while an operation waited for a slot.
  private func slotFreer(
    for report: OperationReport, from ready: MonitorTime, to started: MonitorTime
  ) -> OperationReport.ID? {
    guard let all = finishes[report.queue] else { return nil }
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].time <= started { low = middle + 1 } else { high = middle }
    }
    guard low > 0, all[low - 1].time > ready, all[low - 1].id != report.id else { return nil }
    return all[low - 1].id
  }
}

extension OperationReport {
  /// The earliest of its times that is known.
  fileprivate var firstTime: MonitorTime? { added ?? becameReady ?? started ?? finished }
}
