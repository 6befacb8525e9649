// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Frames as lines of values between tabs: one line for each operation, which begins with the time of
/// its frame, and with the id of its process where there are several.
struct FrameTSV {
  /// What stands behind the time, in this order.
  let fields: [BatchFrame.Operation.Field]
  /// Whether the process's id stands between them.
  var namesProcess = false

  /// The names of the columns, as a line.
  var header: String {
    (["time"] + (namesProcess ? ["pid"] : []) + fields.map(\.rawValue)).joined(separator: "\t")
      + "\n"
  }

  /// The operations of one frame, a line each.
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
  /// What one field holds, as text that is not safe to print; `nil` where it is not known.
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
