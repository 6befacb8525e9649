// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A metric. The raw value is its name in the metrics system.
enum Metric: String, CaseIterable {
  case operations = "opq_operations"
  case cancelling = "opq_operations_cancelling"
  case width = "opq_queue_width"
  case suspended = "opq_queues_suspended"
  case warnings = "opq_warnings"
  case added = "opq_operations_added_total"
  case completed = "opq_operations_completed_total"
  case untimed = "opq_operations_untimed_total"
  case wait = "opq_operation_slot_wait"
  case run = "opq_operation_run"

  /// The dimension that distinguishes the series of one queue, or of the process if the metric does not
  /// belong to a queue; `nil` if there is only one series.
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
  /// The label of the queue; `nil` if the metric does not belong to a queue.
  var queue: String?
  /// The value of ``Metric/detailName``.
  var detail: String?

  init(_ metric: Metric, queue: String? = nil, detail: String? = nil) {
    self.metric = metric
    self.queue = queue
    self.detail = detail
  }

  /// The dimensions in the form that the metrics system takes.
  var dimensions: [(String, String)] {
    var dimensions: [(String, String)] = []
    if let queue { dimensions.append(("queue", queue)) }
    if let name = metric.detailName, let detail { dimensions.append((name, detail)) }
    return dimensions
  }
}

/// A change that an update makes to the metrics.
enum TelemetryAction: Equatable {
  /// A gauge has a new value.
  case set(Series, Int)
  /// A counter increases by this number; 0 if it only begins.
  case add(Series, Int)
  /// A timer has a new value.
  case time(Series, Duration)
  /// The series is not used again, unless a new series with this name begins.
  case destroy(Series)
}
