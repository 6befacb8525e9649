// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
import MonitorProtocol
import MonitorTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The socket to which viewers of this process connect. Only processes of the same user and of root
/// can connect to it. The socket's file appears at its path only when the process listens.
struct MonitorSocket: Sendable {
  /// The maximum number of connections that wait to be accepted.
  private static let backlog: Int32 = 16

  /// The path of the socket's file.
  let path: String
  /// The file descriptor of the socket. The owner of this value closes it.
  let descriptor: Int32
  private let owner = getpid()

  /// Creates the socket, and its directory if it does not exist. Deletes the sockets of processes
  /// that have ended.
  ///
  /// - Parameter places: The directories to use.
  /// - Throws: `MonitorError` if the socket cannot be created.
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

  /// Whether this process created the socket. It is `false` in a child that was forked later.
  var isOwnedByThisProcess: Bool { getpid() == owner }

  /// Deletes the socket's file. In a forked child, the method does nothing, because the file
  /// belongs to the parent.
  func remove() {
    if isOwnedByThisProcess { unlink(path) }
  }
}
