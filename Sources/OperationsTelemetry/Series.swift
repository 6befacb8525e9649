// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What is measured. The raw value is the name for the metrics system.
enum Metric: String, CaseIterable {
  case operations = "opq_operations"
  case cancelling = "opq_operations_cancelling"
  case width = "opq_queue_width"
  case suspended = "opq_queues_suspended"
  case warnings = "opq_warnings"
  case added = "opq_operations_added_total"
  case completed = "opq_operations_completed_total"
  case untimed = "opq_operations_untimed_total"
  case wait = "opq_operation_wait"
  case run = "opq_operation_run"

  /// What tells apart the series of one queue, or of the process where these belong to no queue; `nil`
  /// where there is one.
  var detailName: String? {
    switch self {
    case .operations, .completed: "state"
    case .wait, .run: "class"
    case .warnings: "kind"
    case .cancelling, .width, .suspended, .added, .untimed: nil
    }
  }
}

/// One series of values of a metric.
struct Series: Hashable {
  let metric: Metric
  /// The label of the queue; `nil` where it belongs to none.
  var queue: String?
  /// The value of ``Metric/detailName``.
  var detail: String?

  init(_ metric: Metric, queue: String? = nil, detail: String? = nil) {
    self.metric = metric
    self.queue = queue
    self.detail = detail
  }

  /// As the metrics system takes them.
  var dimensions: [(String, String)] {
    var dimensions: [(String, String)] = []
    if let queue { dimensions.append(("queue", queue)) }
    if let name = metric.detailName, let detail { dimensions.append((name, detail)) }
    return dimensions
  }
}

/// What is to be done with what an update tells.
enum TelemetryAction: Equatable {
  /// A gauge has a new value.
  case set(Series, Int)
  /// A counter is greater by so much; 0 where it only begins.
  case add(Series, Int)
  /// A timer has a new value.
  case time(Series, Duration)
  /// The series will not be used again, unless it comes anew.
  case destroy(Series)
}
