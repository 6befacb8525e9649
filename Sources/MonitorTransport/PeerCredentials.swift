// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
package import MonitorProtocol
package import NIOCore

/// Who is at the other end of a local socket, as the system says: the process that has connected, or
/// the one that listens.
package enum PeerCredentials {
  /// Asks the system. To be called on the channel's loop, where the answer is there at once.
  package static func origin(of channel: any Channel) -> EventLoopFuture<CommandOrigin> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let peer: EventLoopFuture<ctransport_peer> = options.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: ctransport_peer_option()))
    return peer.map { CommandOrigin(processID: $0.process_id, userID: $0.user_id) }
  }
}
