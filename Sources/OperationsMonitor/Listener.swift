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
  /// Completed when viewers that have connected are let in.
  private let channel: EventLoopFuture<any Channel>

  /// The thread of all connections, and the process that it is in. It stays when nobody listens any
  /// more: it sleeps.
  private static let thread = (
    group: ConnectionThread.makeGroup(named: "opq-monitor"), processID: getpid()
  )

  /// Whether connections can be served: in a child that was forked from a process that listened there
  /// is no thread that would.
  static var isPossible: Bool { thread.processID == getpid() }

  /// Where the socket is.
  var path: String { socket.path }

  /// Listens from then on: viewers can connect. Blocks for no other thread.
  ///
  /// - Throws: `MonitorError`.
  init(
    mode: OperationMonitor.Mode, logger: Logger?, in places: MonitorPlaces = .ofEnvironment,
    patience: TimeAmount = ViewerConnection.patience
  ) throws(MonitorError) {
    guard Self.isPossible else {
      throw MonitorError(
        "this process was forked from one that listens, and has none of its threads")
    }
    let socket = try MonitorSocket(in: places)
    let guests = GuestList(mode: mode, logger: logger, loop: Self.thread.group.next())
    channel = ServerBootstrap(group: Self.thread.group)
      .childChannelInitializer { Self.prepare($0, for: guests, patience: patience) }
      .withBoundSocket(socket.descriptor)
    self.socket = socket
    self.guests = guests
  }

  /// Waits until viewers are let in. On the connections' thread it does not wait.
  ///
  /// - Throws: `MonitorError` where they never will be.
  func waitUntilOpen() throws(MonitorError) {
    do {
      try channel.waitElsewhere()
    } catch {
      throw MonitorError("cannot listen at \(path): \(error)")
    }
  }

  /// Deletes the file, where this is the process that made it.
  func removeSocket() { socket.remove() }

  /// Lets nobody in any more, and says goodbye to the viewers; returns when all have been told. On the
  /// connections' thread they are told afterwards. The file stays, see ``removeSocket()``.
  func stop() {
    guard socket.isOwnedByThisProcess else {
      // In a child that was forked there is no thread that could close it.
      close(socket.descriptor)
      return
    }
    try? channel.flatMap { $0.close() }.waitElsewhere()
    guests.close()
    // Behind what each of them is to be told.
    try? channel.eventLoop.submit {}.waitElsewhere()
  }

  /// Lets in who may come in: only then anything is read.
  private static func prepare(
    _ channel: any Channel, for guests: GuestList, patience: TimeAmount
  ) -> EventLoopFuture<Void> {
    PeerCredentials.origin(of: channel).flatMapThrowing { origin in
      guard guests.mayEnter(origin) else { throw MonitorError("it is another user's") }
      try MessageFraming.add(
        before: ViewerConnection(guests: guests, origin: origin, patience: patience), in: channel)
    }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the end on any thread but that of the future, which has to go on for that to come:
  /// `wait()` refuses to on every event loop, those of the program that is watched included.
  ///
  /// - Throws: What the future fails with.
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
