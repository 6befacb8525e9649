// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The widths, suspensions and limits of starts that the user has requested for queues, and that no update has reported yet.
///
/// A connection may be slow. The next key press changes the requested value, not the reported one, so that
/// key presses add up.
struct QueueRequests: Sendable, Equatable {
  var widths = RequestedValues<Int>()
  var suspensions = RequestedValues<Bool>()
  /// The limits of starts; `nil` for no limit.
  var startLimits = RequestedValues<QueueReport.StartLimit?>()

  /// Removes each requested value that its queue has reported. `time` is the time of the update with these
  /// reports.
  mutating func settle(in monitored: MonitoredState, at time: MonitorTime) {
    widths.settle(at: time) { monitored.queue($0)?.width }
    suspensions.settle(at: time) { monitored.queue($0)?.isSuspended }
    startLimits.settle(at: time) { monitored.queue($0).map(\.startLimit) }
  }
}

/// The values that the user has requested for one property of queues, such as the width.
struct RequestedValues<Value: Sendable & Equatable>: Sendable, Equatable {
  private struct Request: Sendable, Equatable {
    var value: Value
    /// The number of requests whose results have not arrived.
    var unansweredCount: Int
    /// When the result of the last request arrived; `nil` before it has arrived.
    var answered: MonitorTime?
  }

  private var requests: [QueueReport.ID: Request] = [:]

  /// Returns the value that was last requested for a queue; `nil` if the queue has already reported it, or if
  /// none was requested.
  subscript(id: QueueReport.ID) -> Value? { requests[id]?.value }

  /// Returns whether the result of a request for a queue has not arrived.
  func isUnanswered(_ id: QueueReport.ID) -> Bool {
    (requests[id]?.unansweredCount ?? 0) > 0
  }

  /// Notes that the dashboard sends a command that requests this value for a queue.
  mutating func note(_ value: Value, of id: QueueReport.ID) {
    let count = requests[id]?.unansweredCount ?? 0
    requests[id] = Request(value: value, unansweredCount: count + 1)
  }

  /// Notes that the result of a command has arrived. If the command was not carried out, the requested value
  /// is forgotten.
  mutating func noteAnswer(
    of id: QueueReport.ID, reported: Value?, isDone: Bool, at time: MonitorTime
  ) {
    guard var request = requests[id] else { return }
    request.unansweredCount = max(0, request.unansweredCount - 1)
    if request.unansweredCount == 0 { request.answered = time }
    let isReported = request.unansweredCount == 0 && request.value == reported
    requests[id] = isDone && !isReported ? request : nil
  }

  /// Removes each request whose result has arrived, if the queue has reported the requested value, or if the
  /// update at `time` is newer than the result. If a newer update has a different value, the program itself
  /// has changed the queue again.
  mutating func settle(at time: MonitorTime, reported: (QueueReport.ID) -> Value?) {
    requests = requests.filter { id, request in
      guard let answered = request.answered else { return true }
      return reported(id) != request.value && time < answered
    }
  }
}
