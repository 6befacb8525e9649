// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import MonitorTestSupport
import TestSupport

/// Listens like a monitored process, and sends exactly the given bytes, as no real process would.
final class FakeProcess: Sendable {
  private let listener: LocalListener
  private let connections = Monitored(0)

  /// The path of its socket.
  var path: String { listener.path }

  /// The number of connections so far.
  var connectionCount: Int { connections.value }

  /// Creates a process that listens until this object is destroyed.
  ///
  /// - Parameter bytes: Returns the bytes for a connection with a number: the greeting, which may
  ///   be empty, and the rest, which is sent after the viewer has answered the greeting. Then the
  ///   connection is closed. Called on a separate thread, for one connection at a time.
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
        if !greeting.isEmpty { Self.waitForCredit(from: connection) }
        Self.send(rest, to: connection)
        close(connection)
        connections.change { $0 += 1 }
      }
    }
  }

  // This ends the thread, and with the thread the listener.
  deinit { listener.shutDown() }

  /// Sends bytes, and waits until the other side has received them or has disconnected.
  private static func send(_ bytes: [UInt8], to connection: Int32) {
    LocalListener.write(bytes, to: connection)
    // Reads the other side's messages, because closing a connection with unread bytes discards the
    // sent ones.
    shutdown(connection, Int32(SHUT_WR))
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while read(connection, &buffer, buffer.count) > 0 {}
  }

  /// Reads until the viewer grants credit or disconnects: its greeting, its interest and its
  /// credit.
  private static func waitForCredit(from connection: Int32) {
    for _ in 0..<3 {
      var length = UInt32(0)
      guard recv(connection, &length, 4, Int32(MSG_WAITALL)) == 4 else { return }
      var message = [UInt8](repeating: 0, count: Int(UInt32(littleEndian: length)))
      _ = recv(connection, &message, message.count, Int32(MSG_WAITALL))
    }
  }

  /// The greeting of this process.
  static var hello: ProcessMessage {
    .hello(
      Hello(
        processName: "fake", processID: getpid(), isReadOnly: false,
        anchor: MonitorTime(nanoseconds: 0), anchorSecondsSince1970: 1_795_262_671,
        processStarted: MonitorTime(nanoseconds: 0)), versions: .current)
  }

  /// An update with some operations, as its frames.
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
