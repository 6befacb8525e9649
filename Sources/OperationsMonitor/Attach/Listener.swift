// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Glibc
import Logging
import MonitorProtocol
import NIOCore
import NIOPosix
import OperationsCore

/// Accepts viewers at this process's socket.
final class Listener: Sendable {
  let guests: GuestList
  private let socket: MonitorSocket
  private let channel: any Channel

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
    do {
      channel = try ServerBootstrap(group: Self.group)
        .childChannelInitializer { Self.prepare($0, for: guests) }
        .withBoundSocket(socket.descriptor).waitAnywhere()
    } catch {
      socket.remove()
      throw MonitorError("cannot listen at \(socket.path): \(error)")
    }
    self.socket = socket
    self.guests = guests
  }

  /// Says goodbye to the viewers, and deletes the socket. Not to be called on the connections' thread.
  func stop() {
    guard socket.isOwnedByThisProcess else {
      // In a child that was forked there is no thread that could close it.
      close(socket.descriptor)
      return
    }
    socket.remove()
    try? channel.close().waitAnywhere()
    guests.close()
  }

  /// Deletes the socket, where this is the process that made it.
  func removeSocket() { socket.remove() }

  /// Lets in who may come in: only then anything is read.
  private static func prepare(
    _ channel: any Channel, for guests: GuestList
  ) -> EventLoopFuture<Void> {
    PeerCredentials.origin(of: channel).flatMapThrowing { origin in
      guard guests.mayEnter(origin) else { throw MonitorError("it is another user's") }
      try MessageFraming.add(
        before: ViewerConnection(guests: guests, origin: origin), in: channel)
    }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the result on any thread but that of the connections: `wait()` refuses to on every event
  /// loop, those of the program that is watched included.
  ///
  /// - Throws: What the future fails with.
  @discardableResult
  func waitAnywhere() throws -> Value {
    let result = Locked<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    whenComplete { value in
      result.withLock { $0 = value }
      isDone.signal()
    }
    isDone.wait()
    guard let value = result.withLock({ $0 }) else { throw ChannelError.eof }
    return try value.get()
  }
}
