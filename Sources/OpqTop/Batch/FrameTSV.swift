// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Frames as tab-separated values: one line per operation, which begins with the time of its frame.
/// With several processes, the process id follows.
struct FrameTSV {
  /// The fields after the time, in this order.
  let fields: [BatchFrame.Operation.Field]
  /// Whether the process id comes between them.
  var namesProcess = false

  /// The line with the names of the columns.
  var header: String {
    (["time"] + (namesProcess ? ["pid"] : []) + fields.map(\.rawValue)).joined(separator: "\t")
      + "\n"
  }

  /// Returns the operations of one frame, one line each.
  func text(of frame: BatchFrame) -> String {
    var text = ""
    for operation in frame.operations {
      text += frame.time.wallClock
      if namesProcess { text += "\t\(frame.process.pid)" }
      for field in fields {
        text += "\t"
        text += EscapedText.escaped(operation.value(of: field) ?? "")
      }
      text += "\n"
    }
    return text
  }
}

extension BatchFrame.Operation {
  /// Returns the value of one field as text that is not safe to print; `nil` if it is unknown.
  func value(of field: Field) -> String? {
    switch field {
    case .id: "\(id.rawValue)"
    case .state: state.rawValue
    case .queue: queue
    case .className: className
    case .priority: "\(priority.rawValue)"
    case .dependencies: dependencies.map { "\($0.rawValue)" }.joined(separator: ",")
    case .unmetDependencyCount: "\(unmetDependencyCount)"
    case .seconds: seconds.map(FrameText.thousandths)
    case .secondsInState: secondsInState.map(FrameText.thousandths)
    case .name: name
    }
  }
}
