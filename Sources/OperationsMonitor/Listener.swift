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

/// Accepts viewers at this process's socket.
final class Listener: Sendable {
  let guests: GuestList
  private let socket: MonitorSocket
  /// Completed when the listener admits viewers that have connected.
  private let channel: EventLoopFuture<any Channel>

  /// The thread of all connections, and the process that it belongs to. After listening ends it stays and
  /// sleeps.
  private static let thread = (
    group: ConnectionThread.makeGroup(named: "opq-monitor"), processID: getpid()
  )

  /// Whether connections can be served. In a child that was forked from a listening process the thread does
  /// not exist.
  static var isPossible: Bool { thread.processID == getpid() }

  /// The path of the socket.
  var path: String { socket.path }

  /// Creates the socket and listens: viewers can connect. It blocks no other thread.
  ///
  /// - Throws: `MonitorError`.
  init(
    mode: OperationMonitor.Mode, logger: Logger?, in places: MonitorPlaces = .ofEnvironment,
    patience: TimeAmount = ViewerConnection.patience
  ) throws(MonitorError) {
    guard Self.isPossible else {
      throw MonitorError(
        "this process is a fork of a monitored one and does not have its threads")
    }
    let socket = try MonitorSocket(in: places)
    let guests = GuestList(mode: mode, logger: logger, loop: Self.thread.group.next())
    channel = ServerBootstrap(group: Self.thread.group)
      .childChannelInitializer { Self.prepare($0, for: guests, patience: patience) }
      .withBoundSocket(socket.descriptor)
    self.socket = socket
    self.guests = guests
  }

  /// Waits until viewers are admitted. On the connections' thread it does not wait.
  ///
  /// - Throws: `MonitorError` if viewers will never be admitted.
  func waitUntilOpen() throws(MonitorError) {
    do {
      try channel.waitElsewhere()
    } catch {
      throw MonitorError("cannot listen at \(path): \(error)")
    }
  }

  /// Deletes the file if this process made it.
  func removeSocket() { socket.remove() }

  /// Stops admitting viewers, and sends each viewer a farewell. Returns when all farewells are sent. On the
  /// connections' thread they are sent after it returns. The file stays, see ``removeSocket()``.
  func stop() {
    guard socket.isOwnedByThisProcess else {
      // In a forked child no thread could close it.
      close(socket.descriptor)
      return
    }
    try? channel.flatMap { $0.close() }.waitElsewhere()
    guests.close()
    // This waits until each farewell is sent.
    try? channel.eventLoop.submit {}.waitElsewhere()
  }

  /// Checks a connection's credentials. Nothing is read before the viewer is admitted.
  private static func prepare(
    _ channel: any Channel, for guests: GuestList, patience: TimeAmount
  ) -> EventLoopFuture<Void> {
    PeerCredentials.origin(of: channel).flatMapThrowing { origin in
      guard guests.mayEnter(origin) else { throw MonitorError("it belongs to another user") }
      try MessageFraming.add(
        before: ViewerConnection(guests: guests, origin: origin, patience: patience), in: channel)
    }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the future on any thread except its event loop, which has to continue for the future to
  /// complete. `wait()` refuses to wait on every event loop, including those of the watched program.
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
