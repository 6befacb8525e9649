// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import Dispatch
import Logging
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix
import OperationsCollector
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
    group: ConnectionThread.makeGroup(named: "opq-monitor"), processID: csystem_process_id()
  )

  /// Whether this process can serve connections. In a child that was forked from a listening
  /// process, it is `false`, because the thread does not exist there.
  static var isPossible: Bool { thread.processID == csystem_process_id() }

  /// Whether the calling thread is the thread of all connections.
  static var isOnThread: Bool { thread.group.next().inEventLoop }

  /// The path of the socket.
  var path: String { socket.path }

  /// Creates the socket and begins to listen, so that viewers can connect. No other thread is
  /// blocked.
  ///
  /// - Throws: `MonitorError` if the process cannot listen.
  init(
    mode: OperationMonitor.Mode, logger: Logger?, in places: MonitorPlaces = .ofEnvironment,
    patience: TimeAmount = ViewerConnection.patience, awaitedViewer: AwaitedViewer? = nil,
    controllers: ControllerCount = ControllerCount()
  ) throws(MonitorError) {
    guard Self.isPossible else {
      throw MonitorError(
        "this process is a fork of a monitored process and does not have its threads")
    }
    let socket = try MonitorSocket(in: places)
    let guests = GuestList(
      mode: mode, logger: logger, loop: Self.thread.group.next(), awaitedViewer: awaitedViewer,
      controllers: controllers)
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

  /// The maximum time for the last updates and the farewell messages.
  static let patienceAtEnd = TimeAmount.seconds(1)
  /// The maximum time for the last update of a viewer. After it, the viewer receives only the
  /// farewell message.
  static let patienceForLastUpdate = TimeAmount.milliseconds(800)
  /// The reason in the farewell message of a process that stops listening.
  static let stopReason = "the process has stopped listening"
  /// The reason in the farewell message of a process that exits.
  static let exitReason = "the process has exited"

  /// Stops admitting viewers, and sends each viewer a last update and a farewell message. The
  /// method returns when all of them are sent, but after a second at the latest. If it is called on
  /// the connections' thread, they are sent after it returns. If it is called on the collector's
  /// thread, which makes the updates, the last update is not sent. The socket's file is not
  /// deleted; see ``removeSocket()``.
  ///
  /// - Parameter atExit: Whether the process is exiting. If it is, the method also waits until the
  ///   viewers have read everything.
  func stop(atExit: Bool = false) {
    guard socket.isOwnedByThisProcess else {
      // In a forked child, the thread that would close the channel does not exist, so only the
      // descriptor is closed.
      cmonitor_close(socket.descriptor)
      return
    }
    let deadline = DispatchTime.now() + .nanoseconds(Int(Self.patienceAtEnd.nanoseconds))
    try? channel.flatMap { $0.close() }.waitElsewhere(until: deadline)
    let reason = Self.reason(atExit: atExit)
    guests.close(
      MonitorSession.isOnCollectorThread
        ? .withoutUpdate(reason: reason)
        : .afterLastUpdate(reason: reason, waitsForViewer: atExit))
    guard !channel.eventLoop.inEventLoop else { return }
    guests.waitUntilEmpty(until: deadline)
    guests.close(.cutOff)
  }

  private static func reason(atExit: Bool) -> String {
    let reason = atExit ? exitReason : stopReason
    let count = OperationQueue.unstartedCompletionBlockCount
    return count == 0
      ? reason
      : "\(reason); \(count) completion block\(count == 1 ? " has" : "s have") not begun"
  }

  /// Checks the user of a new connection, and adds its handlers. Nothing is read from the
  /// connection before the viewer is admitted.
  ///
  /// The connection is closed on exec, which swift-nio does not do. A program that this process
  /// starts, or that replaces it, would otherwise keep the connection open.
  private static func prepare(
    _ channel: any Channel, for guests: GuestList, patience: TimeAmount
  ) -> EventLoopFuture<Void> {
    PeerCredentials.origin(of: channel).flatMapThrowing { origin in
      try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: NIOBSDSocket.Handle.self
      ) {
        cmonitor_close_on_exec($0)
      }
      guard guests.mayEnter(origin) else {
        throw MonitorError("its process belongs to another user")
      }
      try MessageFraming.add(
        before: ViewerConnection(guests: guests, origin: origin, patience: patience), in: channel)
    }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the future, but not longer than until `deadline`. On the future's own event loop,
  /// the method does not wait, because the future could then never complete. `wait()` is not used,
  /// because it refuses to wait on any event loop, including those of the watched program.
  ///
  /// - Throws: The error that the future fails with.
  fileprivate func waitElsewhere(until deadline: DispatchTime = .distantFuture) throws {
    guard !eventLoop.inEventLoop else { return }
    let failure = Locked<(any Error)?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    whenComplete { result in
      if case .failure(let error) = result { failure.withLock { $0 = error } }
      isDone.signal()
    }
    _ = isDone.wait(timeout: deadline)
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
