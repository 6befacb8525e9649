// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Glibc
import Logging
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix
import OperationsCore

/// Accepts connections of viewers at this process's socket.
final class Listener: Sendable {
  let guests: GuestList
  private let socket: MonitorSocket
  /// A future that completes when the listener admits viewers.
  private let channel: EventLoopFuture<any Channel>

  /// The thread of all connections, and the process that created it. When the process stops
  /// listening, the thread sleeps but does not end.
  private static let thread = (
    group: ConnectionThread.makeGroup(named: "opq-monitor"), processID: getpid()
  )

  /// Whether this process can serve connections. In a child that was forked from a listening
  /// process, it is `false`, because the thread does not exist there.
  static var isPossible: Bool { thread.processID == getpid() }

  /// The path of the socket.
  var path: String { socket.path }

  /// Creates the socket and begins to listen, so that viewers can connect. No other thread is
  /// blocked.
  ///
  /// - Throws: `MonitorError` if the process cannot listen.
  init(
    mode: OperationMonitor.Mode, logger: Logger?, in places: MonitorPlaces = .ofEnvironment,
    patience: TimeAmount = ViewerConnection.patience
  ) throws(MonitorError) {
    guard Self.isPossible else {
      throw MonitorError(
        "this process is a fork of a monitored process and does not have its threads")
    }
    let socket = try MonitorSocket(in: places)
    let guests = GuestList(mode: mode, logger: logger, loop: Self.thread.group.next())
    channel = ServerBootstrap(group: Self.thread.group)
      .childChannelInitializer { Self.prepare($0, for: guests, patience: patience) }
      .withBoundSocket(socket.descriptor)
    self.socket = socket
    self.guests = guests
  }

  /// Waits until the listener admits viewers. If the connections' thread calls the method, the
  /// method does not wait.
  ///
  /// - Throws: `MonitorError` if viewers will never be admitted.
  func waitUntilOpen() throws(MonitorError) {
    do {
      try channel.waitElsewhere()
    } catch {
      throw MonitorError("cannot listen at \(path): \(error)")
    }
  }

  /// Deletes the socket's file if this process created it.
  func removeSocket() { socket.remove() }

  /// Stops admitting viewers, and sends each viewer a farewell message. The method returns when all
  /// farewell messages are sent. If it is called on the connections' thread, they are sent after it
  /// returns. The socket's file is not deleted; see ``removeSocket()``.
  func stop() {
    guard socket.isOwnedByThisProcess else {
      // In a forked child, the thread that would close the channel does not exist, so only the
      // descriptor is closed.
      close(socket.descriptor)
      return
    }
    try? channel.flatMap { $0.close() }.waitElsewhere()
    guests.close()
    // This method submits an empty task and waits for it. The event loop runs the task after it has
    // sent all farewell messages, so the method returns after that.
    try? channel.eventLoop.submit {}.waitElsewhere()
  }

  /// Checks the user of a new connection, and adds its handlers. Nothing is read from the
  /// connection before the viewer is admitted.
  private static func prepare(
    _ channel: any Channel, for guests: GuestList, patience: TimeAmount
  ) -> EventLoopFuture<Void> {
    PeerCredentials.origin(of: channel).flatMapThrowing { origin in
      guard guests.mayEnter(origin) else {
        throw MonitorError("its process belongs to another user")
      }
      try MessageFraming.add(
        before: ViewerConnection(guests: guests, origin: origin, patience: patience), in: channel)
    }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the future. On the future's own event loop, the method does not wait, because the
  /// future could then never complete. `wait()` is not used, because it refuses to wait on any
  /// event loop, including those of the watched program.
  ///
  /// - Throws: The error that the future fails with.
  fileprivate func waitElsewhere() throws {
    guard !eventLoop.inEventLoop else { return }
    let failure = Locked<(any Error)?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    whenComplete { result in
      if case .failure(let error) = result { failure.withLock { $0 = error } }
      isDone.signal()
    }
    isDone.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
