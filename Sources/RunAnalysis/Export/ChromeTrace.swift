// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A run in the format of Chrome's trace events, which Perfetto reads. Each queue is shown as a process, each
/// slot as a thread, each run of an operation as a slice, and each dependency as an arrow between slices. The
/// critical path, the counts and the warnings are shown in another process.
///
/// Times are in microseconds since the recording began. The time at which the recording began is in the
/// trace's other data, also as a time on the monotonic clock of the watched process.
struct ChromeTrace: RunExport {
  /// The id of the process and of the thread under which the trace shows data about the whole run.
  private static let overview = 0
  private static let pathThread = 1

  private let run: ExportedRun
  private let queues: [QueueReport.ID]

  init(_ run: ExportedRun) {
    self.run = run
    queues = Set(run.operations.map(\.queue)).sorted()
  }

  func write<Failure: Error>(to output: (String) throws(Failure) -> Void) throws(Failure) {
    try output("{\"displayTimeUnit\":\"ms\",\"otherData\":\(facts),\"traceEvents\":[\n")
    var separator = ""
    func add(_ event: TraceEvent) throws(Failure) {
      try output(separator + JSONLine.text(of: event).dropLast())
      separator = ",\n"
    }
    try writeOverview(add)
    var places: [OperationReport.ID: Place] = [:]
    let lanes = SlotLanes.ofQueues(in: run.history)
    for (index, queue) in queues.enumerated() {
      try writeQueue(queue, lanes[queue], number: index + 1, &places, add)
    }
    try writeDependencies(places, add)
    try output("\n]}\n")
  }

  private func time(_ time: MonitorTime) -> Duration { time - run.history.start }

  private var facts: String {
    let hello = run.history.hello
    return String(
      JSONLine.text(of: [
        "process": hello.processName, "pid": "\(hello.processID)",
        "start": hello.wallClock(at: run.history.start),
        "startMonotonicNanoseconds": "\(run.history.start.nanoseconds)",
        "lostChanges": "\(run.history.lostChanges)",
      ]).dropLast())
  }

  // MARK: The whole run

  private func writeOverview<Failure: Error>(
    _ add: (TraceEvent) throws(Failure) -> Void
  ) throws(Failure) {
    let hello = run.history.hello
    try add(.processName("\(hello.processName)[\(hello.processID)]", of: Self.overview))
    try add(.threadName("critical path", of: Self.overview, Self.pathThread))
    for segment in run.path?.segments ?? [] {
      let title = run.history.operations[segment.operation]?.title ?? ""
      var event = TraceEvent(
        .slice, "\(segment.kind.words): \(segment.operation) \(title)", at: time(segment.start),
        in: Self.overview, Self.pathThread)
      event.dur = segment.duration.microseconds
      event.cat = segment.kind.words
      event.args = ["operation": .number(Int(clamping: segment.operation.rawValue))]
      event.args?["freedBy"] = segment.freedBy.map { .number(Int(clamping: $0.rawValue)) }
      try add(event)
    }
    for sample in run.history.samples {
      var event = TraceEvent(.counter, "operations", at: time(sample.time), in: Self.overview, 0)
      event.args = [
        "executing": .number(sample.counts.executing), "ready": .number(sample.counts.ready),
        "waiting": .number(sample.counts.waiting),
      ]
      try add(event)
    }
    for spell in run.history.warnings {
      var event = TraceEvent(
        .instant, spell.warning.kind.rawValue, at: time(spell.first), in: Self.overview,
        Self.pathThread)
      event.cat = "warning"
      event.s = "g"
      event.args = [
        "operations": .text(spell.warning.operations.map { "\($0)" }.joined(separator: " "))
      ]
      try add(event)
    }
  }

  // MARK: Queues

  /// The process and the thread in which a slice is shown.
  private struct Place {
    var process: Int
    var thread: Int
    var run: SlotLanes.Run
  }

  private func writeQueue<Failure: Error>(
    _ queue: QueueReport.ID, _ lanes: SlotLanes?, number: Int,
    _ places: inout [OperationReport.ID: Place],
    _ add: (TraceEvent) throws(Failure) -> Void
  ) throws(Failure) {
    try add(.processName(run.history.name(of: queue), of: number))
    for (slot, lane) in (lanes?.lanes ?? []).enumerated() {
      let runs = lane.filter { run.ids.contains($0.operation) }
      guard !runs.isEmpty else { continue }
      try add(.threadName("slot \(slot + 1)", of: number, slot + 1))
      for run in runs {
        places[run.operation] = Place(process: number, thread: slot + 1, run: run)
        guard let report = self.run.history.operations[run.operation] else { continue }
        try add(slice(of: report, run, in: number, slot + 1))
      }
    }
  }

  private func slice(
    of report: OperationReport, _ run: SlotLanes.Run, in process: Int, _ thread: Int
  ) -> TraceEvent {
    var event = TraceEvent(.slice, report.title, at: time(run.start), in: process, thread)
    event.dur = run.duration.microseconds
    event.cat = report.kind
    var args: [String: TraceEvent.Argument] = [
      "id": .number(Int(clamping: report.id.rawValue)), "class": .text(report.className),
      "kind": .text(report.kind),
      "state": .text(report.state.rawValue), "priority": .number(report.priority.rawValue),
      "onCriticalPath": .number(self.run.pathOperations.contains(report.id) ? 1 : 0),
    ]
    args["dependencyWaitMicroseconds"] = report.dependencyWait.map { .real($0.microseconds) }
    args["slotWaitMicroseconds"] = report.slotWait.map { .real($0.microseconds) }
    args["attempts"] = report.attempts.map { .number($0.number) }
    args["progress"] = report.progress.map { .text($0.numbers) }
    args["status"] = report.statusText.map { .text($0) }
    args["error"] = report.errorText.map { .text($0) }
    args["cancellation"] = self.run.cancellations[report.id].map { .text($0) }
    event.args = args
    return event
  }

  // MARK: Arrows

  /// Writes an arrow for each dependency. The arrow begins in the last nanosecond of a slice, because another
  /// slice may begin at the end of this slice.
  private func writeDependencies<Failure: Error>(
    _ places: [OperationReport.ID: Place], _ add: (TraceEvent) throws(Failure) -> Void
  ) throws(Failure) {
    var number = 0
    for report in run.operations {
      guard let to = places[report.id] else { continue }
      for dependency in Set(report.dependencies).sorted() {
        guard let from = places[dependency], from.run.end <= to.run.start,
          from.run.start < from.run.end, to.run.start < to.run.end
        else { continue }
        number += 1
        for (place, phase) in [(from, TraceEvent.Phase.flowStart), (to, .flowEnd)] {
          let time = phase == .flowStart ? place.run.end - .nanoseconds(1) : place.run.start
          var event = TraceEvent(
            phase, "dependency", at: self.time(time), in: place.process, place.thread)
          event.cat = "dependency"
          event.id = number
          if phase == .flowEnd { event.bp = "e" }
          try add(event)
        }
      }
    }
  }
}

extension CriticalPath.Kind {
  /// The name of this kind of segment of the critical path, as reports and exports show it.
  var words: String {
    switch self {
    case .work: "work"
    case .slotWait: "slot wait"
    case .dependencyWait: "dependency wait"
    case .unaccounted: "unaccounted"
    }
  }
}
