// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
package import MonitorProtocol
package import NIOCore

/// Asks the system for the process at the other end of a local socket.
package enum PeerCredentials {
  /// Returns the process at the other end of a channel. If the method is called on the channel's
  /// event loop, the result is available at once.
  package static func origin(of channel: any Channel) -> EventLoopFuture<CommandOrigin> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let peer: EventLoopFuture<cmonitor_peer> = options.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: cmonitor_peer_option()))
    return peer.map { CommandOrigin(processID: $0.process_id, userID: $0.user_id) }
  }
}
