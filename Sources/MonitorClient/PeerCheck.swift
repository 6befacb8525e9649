// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTransport

/// Who may be at the other end of a socket: somebody else could show anything.
///
/// Source: unix(7), `SO_PEERCRED`: the process that has called `listen`.
enum PeerCheck {
  /// Why a process that listens is not to be trusted; `nil` where it is.
  ///
  /// - Parameters:
  ///   - peer: Who listens, as the system says.
  ///   - name: What the socket is called, where that names a process which is visible here.
  ///   - user: The viewer's user.
  /// - Returns: The refusal.
  static func refusal(
    of peer: CommandOrigin, named name: MonitorSocketName?, user: UInt32
  ) -> AttachError? {
    // Root may do as any user does, with or without a socket.
    guard peer.userID == user || peer.userID == 0 || user == 0 else {
      return AttachError(.denied, "the socket is another user's, with the id \(peer.userID)")
    }
    // It is 0 where the process is in a namespace of ids that cannot be seen from here.
    guard let name, peer.processID != 0, peer.processID != name.processID else { return nil }
    return AttachError(
      .denied,
      "the socket is named for process \(name.processID), and process \(peer.processID) listens")
  }

  /// The process that the socket at a path is named for, where there is one that started then.
  static func livingName(of path: String) -> MonitorSocketName? {
    let fileName = path.split(separator: "/").last.map(String.init) ?? ""
    return MonitorSocketName(fileName: fileName).flatMap { $0.isAlive ? $0 : nil }
  }
}
