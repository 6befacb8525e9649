// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The steps that an operation has taken between two readings.
///
/// A reading tells of the last state alone, but with the times of all steps on the way, so that each
/// step is found again, once and in order, however many there were.
struct OperationSteps {
  /// One step; the time is that of the reading where it is not known.
  struct Step: Equatable {
    let time: MonitorTime
    let old: OperationState?
    let new: OperationState
  }

  /// In the order in which they are taken where they have the same time: what is cancelled becomes
  /// ready by that.
  private enum Kind: Int {
    case added, cancelled, ready, started, finished
  }

  /// By time.
  private(set) var steps: [Step] = []

  private var state: OperationState?
  private var isCancelled: Bool

  /// - Parameters:
  ///   - old: What was known before; `nil` for nothing.
  ///   - new: What is known now.
  ///   - now: The time of the reading.
  init(from old: OperationReport?, to new: OperationReport, at now: MonitorTime) {
    state = old?.state
    isCancelled = old?.cancelRequested != nil
    for (kind, time) in Self.newTimes(of: new, since: old) {
      take(kind, at: time, endingAs: new)
    }
    // What an operation was before anybody watched is no step. A suspended queue holds what is
    // ready, which is a step of the queue.
    guard let state, state != new.state else { return }
    let isHeldOrReleased = [.ready, .held].contains(state) && [.ready, .held].contains(new.state)
    if !isHeldOrReleased { step(to: new.state, at: now) }
  }

  /// The times that are new, ascending; those at once in the order in which steps are taken.
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
    // Five at most, nearly always in order.
    times.sort { ($0.1, $0.0.rawValue) < ($1.1, $1.0.rawValue) }
    return times
  }

  private mutating func take(_ kind: Kind, at time: MonitorTime, endingAs report: OperationReport) {
    switch kind {
    case .added:
      // What is ready when it is added takes one step, not two.
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
  /// A step of an operation.
  init(_ step: OperationSteps.Step, of report: OperationReport) {
    self.init(
      time: step.time, operation: report.id,
      title: report.name.isEmpty ? report.className : report.name, queue: report.queue,
      old: step.old, new: step.new)
  }
}
