// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTransport

/// Checks the process at the other end of a socket. A process of another user could show false
/// data.
///
/// The system reports the process that has called `listen`. Source: unix(7), `SO_PEERCRED`.
enum PeerCheck {
  /// Returns an error if the viewer must not trust the listening process; otherwise `nil`.
  ///
  /// - Parameters:
  ///   - peer: The listening process, as the system reports it.
  ///   - name: The name of the socket; `nil` if the process in the name does not exist or is not
  ///     visible here.
  ///   - user: The viewer's user.
  /// - Returns: The error; `nil` if the viewer may trust the process.
  static func refusal(
    of peer: CommandOrigin, named name: MonitorSocketName?, user: UInt32
  ) -> AttachError? {
    // Root can act as any user, with or without a socket. Therefore the user is accepted if the
    // process or the viewer belongs to root.
    guard peer.userID == user || peer.userID == 0 || user == 0 else {
      return AttachError(.denied, "the socket belongs to another user (uid \(peer.userID))")
    }
    // The system reports the process id 0 if the listening process is in a process namespace that
    // is not visible to the viewer.
    guard let name, peer.processID != 0, peer.processID != name.processID else { return nil }
    return AttachError(
      .denied,
      "the socket's name contains process id \(name.processID), but process \(peer.processID) listens on it"
    )
  }

  /// Returns the process id and start time in the name of a socket; `nil` if no such process
  /// exists.
  static func livingName(of path: String) -> MonitorSocketName? {
    let fileName = path.split(separator: "/").last.map(String.init) ?? ""
    return MonitorSocketName(fileName: fileName).flatMap { $0.isAlive ? $0 : nil }
  }
}
