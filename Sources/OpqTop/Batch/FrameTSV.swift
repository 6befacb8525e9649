// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Formats frames as tab-separated values. Each operation has a line, which begins with the time of
/// the frame. If several processes are watched, the process id is the second value. If one of them runs on another
/// machine, the host precedes the process id; it is empty for this machine.
struct FrameTSV {
  /// The fields that follow the time, in this order.
  let fields: [BatchFrame.Operation.Field]
  /// Whether the process id follows the time.
  var namesProcess = false
  /// Whether the host precedes the process id.
  var namesHost = false

  /// The first line of the output, with the names of the columns.
  var header: String {
    let names = (namesHost ? ["host"] : []) + (namesProcess ? ["pid"] : [])
    return (["time"] + names + fields.map(\.rawValue)).joined(separator: "\t") + "\n"
  }

  /// Returns a line for each operation of a frame.
  func text(of frame: BatchFrame) -> String {
    var text = ""
    for operation in frame.operations {
      text += frame.time.wallClock
      if namesHost { text += "\t\(EscapedText.escaped(frame.process.host ?? ""))" }
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
  /// Returns the value of a field; `nil` if the value is unknown. The value may contain characters
  /// that are not safe to print.
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
    case .error: error
    case .cancellation: cancellation?.sentence
    case .kind: kind
    case .attempts: attempts?.last.map { "\($0.number)" }
    case .progress: progress?.numbers
    case .status: status
    case .delay: delay.map(FrameText.thousandths)
    }
  }
}
