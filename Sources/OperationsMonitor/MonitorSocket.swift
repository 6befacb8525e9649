// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
import Glibc
import MonitorProtocol
import MonitorTransport

/// The socket at which this process is watched: only its user may connect to it, and it appears at its
/// path when somebody listens, not before.
struct MonitorSocket: Sendable {
  /// How many viewers may wait to be accepted.
  private static let backlog: Int32 = 16

  /// Where it is.
  let path: String
  /// The socket; whoever takes it closes it.
  let descriptor: Int32
  private let owner = getpid()

  /// Makes it, in a directory that is made too, and deletes what processes that are gone have left.
  ///
  /// - Parameter places: Where that is.
  /// - Throws: `MonitorError`.
  init(in places: MonitorPlaces = .ofEnvironment) throws(MonitorError) {
    guard let start = ProcessStart(of: getpid()) else {
      throw MonitorError("/proc does not tell when this process started")
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

  /// Whether this is the process that has made it, and no child of it.
  var isOwnedByThisProcess: Bool { getpid() == owner }

  /// Deletes the file. In a child that was forked it does nothing: the file is the parent's.
  func remove() {
    if isOwnedByThisProcess { unlink(path) }
  }
}
