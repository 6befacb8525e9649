// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The id of a process and the time of its start. No other process since the start of the system has the same values.
package struct ProcessIdentity: Hashable, Sendable {
  /// Whether a process is alive.
  enum Presence {
    case alive
    /// The process has ended. It may not be reaped yet.
    case gone
    /// The system does not tell, for example because this process has no free descriptor.
    case unknown
  }

  /// The id of the process.
  package let id: Int32
  /// The time in the unit and from the moment of the file `/proc/PID/stat`.
  package let startTime: UInt64

  /// Creates the identity of a process. Nothing is checked.
  package init(id: Int32, startTime: UInt64) {
    self.id = id
    self.startTime = startTime
  }

  init(_ status: csystem_process_status) {
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

  /// Whether another process has the id now. Then the process has ended.
  var isReplaced: Bool {
    var status = csystem_process_status()
    return csystem_read_process_status(id, &status) == 0 && status.start_time != startTime
  }

  private static func hasEnded(_ status: csystem_process_status) -> Bool {
    UInt8(bitPattern: status.state) == UInt8(ascii: "Z")
      || UInt8(bitPattern: status.state) == UInt8(ascii: "X")
  }
}

// MARK: - The group of the process

/// The process group of which the process is or was the leader.
///
/// The group can have members when its leader has ended. When it has none, another process can get the id, and can
/// become the leader of another group.
extension ProcessIdentity {
  /// Sends SIGTERM to the members, and continues the stopped ones.
  ///
  /// - Returns: Whether the group exists.
  func terminateGroup() -> Bool {
    guard !isReplaced, csystem_group_exists(id) else { return false }
    csystem_terminate_group(id)
    return true
  }

  /// Sends SIGKILL to the members.
  func killGroup() {
    if !isReplaced { csystem_kill_group(id) }
  }

  /// Whether no member is alive. It is `false` also if the system does not tell.
  var isGroupEmpty: Bool { isReplaced || csystem_living_member_count(id) == 0 }
}
