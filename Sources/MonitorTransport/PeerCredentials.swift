// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
package import MonitorProtocol
package import NIOCore

/// The process at the other end of a local socket, as the system reports it: the process that has connected,
/// or the one that listens.
package enum PeerCredentials {
  /// Asks the system. Call it on the channel's loop, where the answer is available at once.
  package static func origin(of channel: any Channel) -> EventLoopFuture<CommandOrigin> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let peer: EventLoopFuture<ctransport_peer> = options.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: ctransport_peer_option()))
    return peer.map { CommandOrigin(processID: $0.process_id, userID: $0.user_id) }
  }
}
