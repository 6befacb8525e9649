// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The id of a process and the time of its start. No other process since the start of the system has the same values.
struct ProcessIdentity: Hashable, Sendable {
  /// Whether a process is alive.
  enum Presence {
    case alive
    /// The process has ended. It may not be reaped yet.
    case gone
    /// The system does not tell, for example because this process has no free descriptor.
    case unknown
  }

  let id: Int32
  /// The time in the unit and from the moment of the file `/proc/PID/stat`.
  let startTime: UInt64

  init(id: Int32, startTime: UInt64) {
    self.id = id
    self.startTime = startTime
  }

  /// Reads a line of a file `/proc/PID/stat`; `nil` if it is not complete.
  init?(line: some StringProtocol) {
    var status = csystem_process_status()
    guard csystem_parse_process_status(String(line), &status), status.process > 1 else {
      return nil
    }
    self.init(id: status.process, startTime: status.start_time)
  }

  /// Whether the process is alive.
  var presence: Presence {
    var status = csystem_process_status()
    let error = csystem_read_process_status(id, &status)
    guard error == 0 else {
      return csystem_is_not_found(error) || csystem_is_no_process(error) ? .gone : .unknown
    }
    if status.start_time != startTime { return .gone }
    return Self.hasEnded(status) ? .gone : .alive
  }

  /// The id of the process's parent; `nil` if the process has ended.
  var parent: Int32? {
    var status = csystem_process_status()
    guard csystem_read_process_status(id, &status) == 0, status.start_time == startTime,
      !Self.hasEnded(status)
    else { return nil }
    return status.parent
  }

  private static func hasEnded(_ status: csystem_process_status) -> Bool {
    UInt8(bitPattern: status.state) == UInt8(ascii: "Z")
      || UInt8(bitPattern: status.state) == UInt8(ascii: "X")
  }
}
