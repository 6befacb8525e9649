// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A metric that the telemetry reports. The raw value is the name of the metric in the metrics
/// system.
enum Metric: String, CaseIterable {
  case operations = "opq_operations"
  case cancelling = "opq_operations_cancelling"
  case width = "opq_queue_width"
  case suspended = "opq_queues_suspended"
  case warnings = "opq_warnings"
  case added = "opq_operations_added_total"
  case completed = "opq_operations_completed_total"
  case failed = "opq_operations_failed_total"
  case untimed = "opq_operations_untimed_total"
  case wait = "opq_operation_slot_wait"
  case run = "opq_operation_run"

  /// The name of the dimension that distinguishes several series of the same queue; `nil` if a
  /// queue has only one series of this metric. For a metric that does not belong to a queue, the
  /// dimension distinguishes the series of the process.
  var detailName: String? {
    switch self {
    case .operations, .completed: "state"
    case .wait, .run, .warnings: "kind"
    case .cancelling, .width, .suspended, .added, .failed, .untimed: nil
    }
  }
}

/// One time series of a metric: the metric and the values of its dimensions.
struct Series: Hashable {
  let metric: Metric
  /// The label of the queue; `nil` if the metric does not belong to a queue.
  var queue: String?
  /// The value of the dimension ``Metric/detailName``; `nil` if the metric does not have this
  /// dimension.
  var detail: String?

  init(_ metric: Metric, queue: String? = nil, detail: String? = nil) {
    self.metric = metric
    self.queue = queue
    self.detail = detail
  }

  /// The names and values of the dimensions, for the metrics system.
  var dimensions: [(String, String)] {
    var dimensions: [(String, String)] = []
    if let queue { dimensions.append(("queue", queue)) }
    if let name = metric.detailName, let detail { dimensions.append((name, detail)) }
    return dimensions
  }
}

/// A change of a metric that an update causes.
enum TelemetryAction: Equatable {
  /// Sets a gauge to this value.
  case set(Series, Int)
  /// Increases a counter by this number. The number is 0 for a new counter without events.
  case add(Series, Int)
  /// Adds this duration to a timer.
  case time(Series, Duration)
  /// Destroys the metric of this series. A later action may create it again.
  case destroy(Series)
}
