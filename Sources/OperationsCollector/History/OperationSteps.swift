// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state changes of an operation between two readings.
///
/// A reading returns only the last state, but also the times of all changes before it. From these,
/// each change is reconstructed once and in order.
struct OperationSteps {
  /// One state change. Its time is that of the reading if the exact time is unknown.
  struct Step: Equatable {
    let time: MonitorTime
    let old: OperationState?
    let new: OperationState
  }

  /// The order of changes with the same time: a cancelled operation becomes ready by its
  /// cancellation.
  private enum Kind: Int {
    case added, cancelled, ready, started, finished
  }

  /// The steps, sorted by time.
  private(set) var steps: [Step] = []

  private var state: OperationState?
  private var isCancelled: Bool

  /// - Parameters:
  ///   - old: The last known state; `nil` if there is none.
  ///   - new: The current state.
  ///   - now: The time of the reading.
  init(from old: OperationReport?, to new: OperationReport, at now: MonitorTime) {
    state = old?.state
    isCancelled = old?.cancelRequested != nil
    for (kind, time) in Self.newTimes(of: new, since: old) {
      take(kind, at: time, endingAs: new)
    }
    // The state before monitoring began is not a change. A suspended queue holds its ready
    // operations, which is a change of the queue, not of the operation.
    guard let state, state != new.state else { return }
    let isHeldOrReleased = [.ready, .held].contains(state) && [.ready, .held].contains(new.state)
    if !isHeldOrReleased { step(to: new.state, at: now) }
  }

  /// Returns the new times, ascending. Equal times are in the order of ``Kind``.
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
    // There are at most five, and they are nearly always sorted.
    times.sort { ($0.1, $0.0.rawValue) < ($1.1, $1.0.rawValue) }
    return times
  }

  private mutating func take(_ kind: Kind, at time: MonitorTime, endingAs report: OperationReport) {
    switch kind {
    case .added:
      // An operation that is ready when it is added has one change, not two.
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

  private mutating func step(to new: OperationState, at time: MonitorTime) {
    guard new != state, state?.isOver != true else { return }
    steps.append(Step(time: time, old: state, new: new))
    state = new
  }
}

extension OperationEvent {
  /// Creates the event for a state change of an operation.
  init(_ step: OperationSteps.Step, of report: OperationReport) {
    self.init(
      time: step.time, operation: report.id,
      title: report.name.isEmpty ? report.className : report.name, queue: report.queue,
      old: step.old, new: step.new)
  }
}
