// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import MonitorProtocol
import MonitorTransport

/// The socket to which viewers of this process connect. Only processes of the same user and of root
/// can connect to it. The socket's file appears at its path only when the process listens.
struct MonitorSocket: Sendable {
  /// The maximum number of connections that wait to be accepted.
  private static let backlog: Int32 = 16

  /// The path of the socket's file.
  let path: String
  /// The file descriptor of the socket. The owner of this value closes it.
  let descriptor: Int32
  private let owner = csystem_process_id()

  /// Creates the socket, and its directory if it does not exist. Deletes the sockets of processes
  /// that have ended.
  ///
  /// - Parameter places: The directories to use.
  /// - Throws: `MonitorError` if the socket cannot be created.
  init(in places: MonitorPlaces = .ofEnvironment) throws(MonitorError) {
    let process = csystem_process_id()
    guard let start = ProcessStart(of: process) else {
      throw MonitorError("cannot read the start time of this process from /proc")
    }
    let name = MonitorSocketName(processID: process, start: start)
    let directory: MonitorDirectory
    do throws(MonitorDirectoryError) {
      directory = try MonitorDirectory.prepared(for: name, in: places)
    } catch {
      throw MonitorError(error)
    }
    directory.removeStaleSockets()
    let temporary = directory.path(of: name.temporaryFileName)
    cmonitor_delete(temporary)
    let descriptor = cmonitor_listen_at(temporary, Self.backlog)
    guard descriptor >= 0 else {
      let reason = String(cString: cmonitor_error_text(-descriptor))
      throw MonitorError("cannot listen at \(temporary): \(reason)")
    }
    let path = directory.path(of: name.fileName)
    let error = cmonitor_rename(temporary, path)
    guard error == 0 else {
      let reason = String(cString: cmonitor_error_text(error))
      cmonitor_delete(temporary)
      cmonitor_close(descriptor)
      throw MonitorError("cannot make \(path): \(reason)")
    }
    self.path = path
    self.descriptor = descriptor
  }

  /// Whether this process created the socket. It is `false` in a child that was forked later.
  var isOwnedByThisProcess: Bool { csystem_process_id() == owner }

  /// Deletes the socket's file. In a forked child, the method does nothing, because the file
  /// belongs to the parent.
  func remove() {
    if isOwnedByThisProcess { cmonitor_delete(path) }
  }
}
