// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import Logging
import MonitorProtocol
import NIOCore
import NIOExtras
import NIOPosix
import OperationsCore

/// Accepts viewers at this process's socket.
final class Listener: Sendable {
  let guests: GuestList
  private let socket: MonitorSocket
  private let quiescing: ServerQuiescingHelper

  /// The thread of all connections. It stays when nobody listens any more: it sleeps.
  private static let group = ConnectionThread.makeGroup(named: "opq-monitor")

  /// Where the socket is.
  var path: String { socket.path }

  /// Listens from then on.
  ///
  /// - Throws: `MonitorError`.
  init(
    mode: OperationMonitor.Mode, logger: Logger,
    runtimePath: String? = MonitorDirectory.runtimePath
  ) throws(MonitorError) {
    let socket = try MonitorSocket(runtimePath: runtimePath)
    let guests = GuestList(mode: mode, logger: logger)
    let quiescing = ServerQuiescingHelper(group: Self.group)
    do {
      _ = try ServerBootstrap(group: Self.group)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
              quiescing.makeServerChannelHandler(channel: channel))
          }
        }
        .childChannelInitializer { Self.prepare($0, for: guests) }
        .withBoundSocket(socket.descriptor).wait()
    } catch {
      socket.remove()
      throw MonitorError("cannot listen at \(socket.path): \(error)")
    }
    self.socket = socket
    self.guests = guests
    self.quiescing = quiescing
  }

  /// Says goodbye to the viewers, and deletes the socket. Not to be called on the connections' thread.
  func stop() {
    socket.remove()
    let promise = Self.group.next().makePromise(of: Void.self)
    quiescing.initiateShutdown(promise: promise)
    try? promise.futureResult.wait()
  }

  /// Deletes the socket, where this is the process that made it.
  func removeSocket() { socket.remove() }

  /// Lets in who may come in: only then anything is read.
  private static func prepare(
    _ channel: any Channel, for guests: GuestList
  ) -> EventLoopFuture<Void> {
    PeerCredentials.origin(of: channel).flatMapThrowing { origin in
      guard guests.mayEnter(origin) else { throw MonitorError("it is another user's") }
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandlers(
        ByteToMessageHandler(
          LengthFieldBasedFrameDecoder(
            lengthFieldBitLength: .fourBytes, lengthFieldEndianness: .little),
          maximumBufferSize: WireLimits.maximumFrame + 4),
        LengthFieldPrepender(lengthFieldBitLength: .fourBytes, lengthFieldEndianness: .little),
        ViewerConnection(guests: guests, origin: origin))
    }
  }
}
