// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireEvents {
  init(_ news: EventNews) {
    self.init()
    events = news.events.map { WireEvent($0) }
    skippedCount = Int64(news.skippedCount)
    isBeginning = news.isBeginning
  }
}

extension EventNews {
  init(_ wire: WireEvents) {
    self.init(
      events: wire.events.compactMap { OperationEvent($0) },
      skippedCount: Int(wireCount: wire.skippedCount), isBeginning: wire.isBeginning)
  }
}

extension WireEvent {
  init(_ event: OperationEvent) {
    self.init()
    time = event.time.nanoseconds
    operation = event.operation.rawValue
    title = event.title.wireText
    queue = event.queue.rawValue
    if let state = event.old { old = WireState(state) }
    new = WireState(event.new)
    isFailed = event.new == .failed
  }
}

extension OperationEvent {
  /// Creates an event from a message; `nil` if this version does not know the new state.
  init?(_ wire: WireEvent) {
    guard let new = OperationState(wire.new, hasFailed: wire.isFailed) else { return nil }
    self.init(
      time: MonitorTime(wire: wire.time), operation: .init(wire.operation),
      title: wire.title.wireText,
      queue: .init(wire.queue), old: OperationState(wire.old), new: new)
  }
}

extension WireRuns {
  init(_ runs: RecentRuns) {
    self.init()
    self.runs = runs.runs.map { WireRun($0) }
    count = Int64(runs.count)
  }
}

extension RecentRuns {
  init(_ wire: WireRuns) {
    self.init(
      runs: wire.runs.compactMap { OperationRun($0) }, count: Int(wireCount: wire.count))
  }
}

extension WireRun {
  init(_ run: OperationRun) {
    self.init()
    id = run.id.rawValue
    title = run.title.wireText
    queue = run.queue.rawValue
    state = WireState(run.state)
    isFailed = run.state == .failed
    started = run.started.nanoseconds
    if let time = run.finished { finished = time.nanoseconds }
    if let text = run.kind?.wireText, !text.isEmpty { kind = text == title ? "" : text }
  }
}

extension OperationRun {
  /// Creates a run from a message; `nil` if this version does not know the state.
  init?(_ wire: WireRun) {
    guard let state = OperationState(wire.state, hasFailed: wire.isFailed) else { return nil }
    self.init(
      id: .init(wire.id), title: wire.title.wireText, queue: .init(wire.queue), state: state,
      started: MonitorTime(wire: wire.started),
      finished: wire.hasFinished ? MonitorTime(wire: wire.finished) : nil)
    let kind = wire.kind.isEmpty ? title : wire.kind.wireText
    if wire.hasKind, !kind.isEmpty { self.kind = kind }
  }
}

extension WireTimes {
  init(_ times: TimeStatistics) {
    self.init()
    if let wait = times.wait { self.wait = WirePercentiles(wait) }
    if let run = times.run { self.run = WirePercentiles(run) }
  }
}

extension TimeStatistics {
  init(_ wire: WireTimes) {
    self.init(
      wait: wire.hasWait ? Percentiles(wire.wait) : nil,
      run: wire.hasRun ? Percentiles(wire.run) : nil)
  }
}

extension WirePercentiles {
  init(_ percentiles: Percentiles) {
    self.init()
    count = Int64(percentiles.count)
    p50 = percentiles.p50.saturatedNanoseconds
    p90 = percentiles.p90.saturatedNanoseconds
    p99 = percentiles.p99.saturatedNanoseconds
  }
}

extension Percentiles {
  init(_ wire: WirePercentiles) {
    self.init(
      count: max(1, Int(wireCount: wire.count)), p50: Duration(wire: wire.p50),
      p90: Duration(wire: wire.p90), p99: Duration(wire: wire.p99))
  }
}
