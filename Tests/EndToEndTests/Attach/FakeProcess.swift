// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import MonitorTestSupport
import TestSupport

/// What listens as a monitored process does, and says byte by byte what it is told to, as no real one
/// would.
final class FakeProcess: Sendable {
  private let listener: LocalListener
  private let connections = Monitored(0)

  /// Where it listens.
  var path: String { listener.path }

  /// How many have connected so far.
  var connectionCount: Int { connections.value }

  /// Listens until this object is gone.
  ///
  /// - Parameter bytes: What the connection of a number is told: a greeting, or nothing, and, where the
  ///   viewer answers the greeting, the rest at once; then it is closed. Called on a thread of its own, for
  ///   one connection after the other.
  /// - Throws: `TemporaryDirectory.Failure` where it cannot listen.
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

  // The thread ends by it, and with the thread the listener.
  deinit { listener.shutDown() }

  /// Sends, and waits until the other side has taken all or gone.
  private static func send(_ bytes: [UInt8], to connection: Int32) {
    LocalListener.write(bytes, to: connection)
    // The other side's hello, so that closing does not throw away what it has not read.
    shutdown(connection, Int32(SHUT_WR))
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while read(connection, &buffer, buffer.count) > 0 {}
  }

  /// Reads until the viewer takes parts of updates, or goes: its hello, what it wants, and its credit.
  private static func waitForCredit(from connection: Int32) {
    for _ in 0..<3 {
      var length = UInt32(0)
      guard recv(connection, &length, 4, Int32(MSG_WAITALL)) == 4 else { return }
      var message = [UInt8](repeating: 0, count: Int(UInt32(littleEndian: length)))
      _ = recv(connection, &message, message.count, Int32(MSG_WAITALL))
    }
  }

  /// A greeting of this process.
  static var hello: ProcessMessage {
    .hello(
      Hello(
        processName: "fake", processID: getpid(), isReadOnly: false,
        anchor: MonitorTime(nanoseconds: 0), anchorSecondsSince1970: 1_795_262_671,
        processStarted: MonitorTime(nanoseconds: 0)), versions: .current)
  }

  /// An update of some operations, as the frames that it comes in.
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
