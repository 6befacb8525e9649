// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import TestSupport

/// What listens as a monitored process does, and says byte by byte what it is told to, as no real one
/// would.
final class FakeProcess: Sendable {
  private let directory: TemporaryDirectory
  private let descriptor: Int32
  private let connections = Monitored(0)

  /// Where it listens.
  var path: String { directory.file("fake.sock") }

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
    directory = try TemporaryDirectory()
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    descriptor = listener
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) {
      $0.copyBytes(from: directory.file("fake.sock").utf8)
    }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(listener, 16) == 0 else { throw TemporaryDirectory.Failure(code: errno) }
    let connections = connections
    startThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        let (greeting, rest) = bytes(connections.value)
        Self.write(greeting, to: connection)
        if !greeting.isEmpty { Self.waitForCredit(from: connection) }
        Self.send(rest, to: connection)
        close(connection)
        connections.change { $0 += 1 }
      }
    }
  }

  deinit {
    // The thread is woken by it, and ends.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// Sends, and waits until the other side has taken all or gone.
  private static func send(_ bytes: [UInt8], to connection: Int32) {
    write(bytes, to: connection)
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

  private static func write(_ bytes: [UInt8], to connection: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// A message with its length before it.
  static func frame(_ message: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(message.count).littleEndian, Array.init) + message
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
