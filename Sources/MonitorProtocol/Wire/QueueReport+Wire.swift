// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireQueue {
  init(_ report: QueueReport) {
    self.init()
    id = report.id.rawValue
    name = report.name.wireText
    counts = WireCounts(report.counts)
    if let width = report.width { self.width = Int64(width) }
    isSuspended = report.isSuspended
    if let limit = report.startLimit {
      startLimit = WireStartLimit(limit)
    }
    if let times = report.times { self.times = WireTimes(times) }
    if let count = report.startedCount { startedCount = Int64(count) }
  }
}

extension WireStartLimit {
  init(_ limit: QueueReport.StartLimit) {
    self.init()
    count = Int64(limit.count)
    periodNanoseconds = limit.periodNanoseconds
  }
}

extension QueueReport {
  init(_ wire: WireQueue) {
    self.init(
      id: ID(wire.id), name: wire.name.wireText, counts: StateCounts(wire.counts),
      width: wire.hasWidth ? Int(wireCount: wire.width) : nil, isSuspended: wire.isSuspended,
      startLimit: wire.hasStartLimit
        ? StartLimit(
          count: Int(wireCount: wire.startLimit.count),
          periodNanoseconds: max(0, wire.startLimit.periodNanoseconds)) : nil)
    times = wire.hasTimes ? TimeStatistics(wire.times) : nil
    startedCount = wire.hasStartedCount ? Int(wireCount: wire.startedCount) : nil
  }
}

extension WireCounts {
  init(_ counts: StateCounts) {
    self.init()
    waiting = Int64(counts.waiting)
    ready = Int64(counts.ready)
    held = Int64(counts.held)
    executing = Int64(counts.executing)
    cancelling = Int64(counts.cancelling)
    finished = Int64(counts.finished)
    failed = Int64(counts.failed)
    cancelled = Int64(counts.cancelled)
    total = Int64(counts.total)
  }
}

extension StateCounts {
  init(_ wire: WireCounts) {
    self.init(
      waiting: Int(wireCount: wire.waiting), ready: Int(wireCount: wire.ready),
      held: Int(wireCount: wire.held), executing: Int(wireCount: wire.executing),
      cancelling: Int(wireCount: wire.cancelling), finished: Int(wireCount: wire.finished),
      failed: min(Int(wireCount: wire.failed), Int(wireCount: wire.finished)),
      cancelled: Int(wireCount: wire.cancelled), total: Int(wireCount: wire.total))
  }
}
