// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
import Glibc
import MonitorProtocol
import MonitorTransport

/// The socket through which viewers watch this process. Only the process's user may connect to it. The file
/// appears at its path when the process listens, not before.
struct MonitorSocket: Sendable {
  /// How many viewers may wait to be accepted.
  private static let backlog: Int32 = 16

  /// The path of the file.
  let path: String
  /// The socket. The owner of this value closes it.
  let descriptor: Int32
  private let owner = getpid()

  /// Makes the socket and, if needed, its directory, and deletes the files of processes that have ended.
  ///
  /// - Parameter places: The directories to use.
  /// - Throws: `MonitorError`.
  init(in places: MonitorPlaces = .ofEnvironment) throws(MonitorError) {
    guard let start = ProcessStart(of: getpid()) else {
      throw MonitorError("cannot read the start time of this process from /proc")
    }
    let name = MonitorSocketName(processID: getpid(), start: start)
    let directory: MonitorDirectory
    do throws(MonitorDirectoryError) {
      directory = try MonitorDirectory.prepared(for: name, in: places)
    } catch {
      throw MonitorError(error)
    }
    directory.removeStaleSockets()
    let temporary = directory.path(of: name.temporaryFileName)
    unlink(temporary)
    let descriptor = ctransport_listen_at(temporary, Self.backlog)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw MonitorError("cannot listen at \(temporary): \(reason)")
    }
    let path = directory.path(of: name.fileName)
    guard rename(temporary, path) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(temporary)
      close(descriptor)
      throw MonitorError("cannot make \(path): \(reason)")
    }
    self.path = path
    self.descriptor = descriptor
  }

  /// Whether this process made the socket, and is not a child of the process that did.
  var isOwnedByThisProcess: Bool { getpid() == owner }

  /// Deletes the file. In a forked child it does nothing: the file belongs to the parent.
  func remove() {
    if isOwnedByThisProcess { unlink(path) }
  }
}
