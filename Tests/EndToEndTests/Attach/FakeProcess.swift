// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A listener that behaves like a monitored process but sends arbitrary bytes, which no real
/// process would send.
final class FakeProcess: Sendable {
  private let listener: LocalListener
  private let connections = Monitored(0)

  /// The path of the socket on which the process listens.
  var path: String { listener.path }

  /// The number of viewers that have connected so far.
  var connectionCount: Int { connections.value }

  /// Creates a process that listens until this object is destroyed.
  ///
  /// - Parameter bytes: A closure that returns the bytes to send on the connection with a given
  ///   number: the greeting, which may be empty, and further bytes, which are sent after the viewer
  ///   has answered the greeting. Then the connection is closed. The closure is called on a
  ///   separate thread, for one connection at a time.
  /// - Throws: `TemporaryDirectory.Failure` if it cannot listen.
  init(
    _ bytes: @escaping @Sendable (_ connection: Int) -> (greeting: [UInt8], rest: [UInt8])
  ) throws {
    let listener = try LocalListener()
    self.listener = listener
    let connections = connections
    startThread {
      while true {
        let connection = listener.accept()
        guard connection >= 0 else { return }
        let (greeting, rest) = bytes(connections.value)
        LocalListener.write(greeting, to: connection)
        // The first three messages of a viewer are its greeting, interest and credit.
        if !greeting.isEmpty { LocalListener.discardFrames(3, from: connection) }
        Self.send(rest, to: connection)
        close(connection)
        connections.change { $0 += 1 }
      }
    }
  }

  // Shutting down the listener ends the thread that accepts connections. The thread then releases
  // the listener.
  deinit { listener.shutDown() }

  /// Sends bytes to a viewer, and waits until the viewer has received them or has disconnected.
  private static func send(_ bytes: [UInt8], to connection: Int32) {
    LocalListener.write(bytes, to: connection)
    // Reads the viewer's messages to the end: if a connection is closed with unread bytes, the
    // system discards the sent bytes.
    shutdown(connection, Int32(SHUT_WR))
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while read(connection, &buffer, buffer.count) > 0 {}
  }

  /// The greeting of this process.
  static var hello: ProcessMessage {
    .hello(
      Hello(
        processName: "fake", processID: getpid(), isReadOnly: false,
        anchor: MonitorTime(nanoseconds: 0), anchorSecondsSince1970: 1_795_262_671,
        processStarted: MonitorTime(nanoseconds: 0)), versions: .current)
  }

  /// The encoded frames of an update with 20 operations.
  static var update: [[UInt8]] {
    let queue = QueueReport(id: .init(1), name: "io")
    return Array(
      UpdateParts(
        Update(
          time: MonitorTime(nanoseconds: 1_000_000_000), queues: [queue],
          changed: (0..<20).map {
            OperationReport(
              id: .init($0), name: "job \($0)", className: "Block", queue: queue.id,
              state: .waiting, dependencies: [.init($0 + 1)])
          })))
  }
}
