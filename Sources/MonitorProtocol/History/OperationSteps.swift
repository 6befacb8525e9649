// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Reconstructs the state changes of an operation between two readings.
///
/// A reading returns only the last state of an operation, but it also returns the times of all
/// earlier changes. From these times, each state change is reconstructed once and in the correct
/// order.
package struct OperationSteps {
  /// One state change of an operation. If the exact time of the change is unknown, its time is the
  /// time of the reading.
  package struct Step: Equatable {
    /// The time of the change.
    package fileprivate(set) var time: MonitorTime
    /// The state before the change; `nil` if it is unknown.
    package let old: OperationState?
    /// The state after the change.
    package let new: OperationState
  }

  /// The kinds of changes. Changes with the same time are in the order of the cases. A cancellation
  /// comes before ready, because a cancellation makes an operation ready.
  private enum Kind: Int {
    case added, cancelled, ready, started, finished
  }

  /// The state changes, sorted by time.
  package private(set) var steps: [Step] = []

  /// The longest time between the finish of an operation and the moment at which its queue records the
  /// finish. In this time, other queues may already record that dependents are ready and start.
  static let recordingDelay = Duration.milliseconds(100)

  private var state: OperationState?
  private var isCancelled: Bool

  /// Creates the list of an operation's state changes between two readings.
  ///
  /// - Parameters:
  ///   - old: The report of the previous reading; `nil` if the operation was not known.
  ///   - new: The report of the current reading.
  ///   - now: The time of the current reading.
  package init(from old: OperationReport?, to new: OperationReport, at now: MonitorTime) {
    state = old?.state
    isCancelled = old?.cancelRequested != nil
    for (kind, time) in Self.newTimes(of: new, since: old) {
      take(kind, at: time, endingAs: new)
    }
    // If the operation's previous state is unknown, its current state is not a change. If a queue
    // is suspended or resumed, its ready operations become held or ready. This is a change of the
    // queue, not of the operations.
    guard let state, state != new.state else { return }
    let isHeldOrReleased = [.ready, .held].contains(state) && [.ready, .held].contains(new.state)
    if !isHeldOrReleased { step(to: new.state, at: now) }
  }

  /// Returns the times of state changes that the new report has and the old report does not have,
  /// sorted from the earliest. Equal times are in the order of ``Kind``.
  private static func newTimes(
    of new: OperationReport, since old: OperationReport?
  ) -> [(Kind, MonitorTime)] {
    var times: [(Kind, MonitorTime)] = []
    func add(_ kind: Kind, _ time: KeyPath<OperationReport, MonitorTime?>) {
      guard let moment = new[keyPath: time], moment != old?[keyPath: time] else { return }
      times.append((kind, moment))
    }
    add(.added, \.added)
    add(.ready, \.becameReady)
    add(.started, \.started)
    add(.cancelled, \.cancelRequested)
    add(.finished, \.finished)
    // The sort is cheap, because the array has at most five elements, which are nearly always
    // sorted already.
    times.sort { ($0.1, $0.0.rawValue) < ($1.1, $1.0.rawValue) }
    return times
  }

  private mutating func take(_ kind: Kind, at time: MonitorTime, endingAs report: OperationReport) {
    switch kind {
    case .added:
      // If an operation is ready when it is added, it has one state change, not two.
      if report.becameReady != time { step(to: .waiting, at: time) }
    case .ready:
      step(to: isCancelled ? .cancelling : report.state == .held ? .held : .ready, at: time)
    case .started:
      step(to: isCancelled ? .cancelling : .executing, at: time)
    case .cancelled:
      isCancelled = true
      step(to: .cancelling, at: time)
    case .finished:
      step(to: report.state, at: time)
    }
  }

  /// Corrects the times of the steps, so that an operation does not become ready or start before the recorded
  /// finish of an operation that it waited for. A time changes by less than ``recordingDelay``.
  ///
  /// - Parameters:
  ///   - dependencies: The reports of the operation's dependencies.
  ///   - dependents: The reports of the operations that depend on the operation.
  package mutating func order(
    after dependencies: some Sequence<OperationReport>,
    before dependents: some Sequence<OperationReport>
  ) {
    let nanosecond = Duration.nanoseconds(1)
    if steps.contains(where: { Self.needsDependencies($0.new) }) {
      let finishes = dependencies.lazy.compactMap { $0.state.isOver ? $0.finished : nil }
      if let finish = finishes.max() {
        for index in steps.indices
        where Self.needsDependencies(steps[index].new) && steps[index].time <= finish
          && finish - steps[index].time < Self.recordingDelay
        {
          steps[index].time = finish + nanosecond
        }
      }
    }
    if let last = steps.last, last.new.isOver {
      // A cancelled operation becomes ready without its dependencies.
      let starts = dependents.lazy.filter { $0.cancelRequested == nil }
        .compactMap { $0.becameReady ?? $0.started }
        .filter { $0 <= last.time && last.time - $0 < Self.recordingDelay }
      if let start = starts.min() { steps[steps.count - 1].time = start - nanosecond }
    }
    for index in steps.indices.dropFirst() {
      steps[index].time = max(steps[index].time, steps[index - 1].time)
    }
  }

  /// Returns whether an operation enters a state only after its dependencies have finished.
  private static func needsDependencies(_ state: OperationState) -> Bool {
    switch state {
    case .ready, .held, .executing: true
    case .waiting, .cancelling, .finished, .failed, .cancelled: false
    }
  }

  private mutating func step(to new: OperationState, at time: MonitorTime) {
    guard new != state, state?.isOver != true else { return }
    steps.append(Step(time: time, old: state, new: new))
    state = new
  }
}

extension OperationEvent {
  /// Creates the event for a state change of an operation.
  package init(_ step: OperationSteps.Step, of report: OperationReport) {
    self.init(
      time: step.time, operation: report.id, title: report.title, queue: report.queue,
      old: step.old, new: step.new)
  }
}
