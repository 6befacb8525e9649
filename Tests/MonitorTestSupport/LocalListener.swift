// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A listening socket in a new directory. The directory exists as long as this object. Programs
/// that a test starts inherit neither the socket nor connections to it.
package final class LocalListener: Sendable {
  /// The path of the socket.
  package let path: String
  /// The descriptor of the socket, with which a caller can `poll`.
  package let descriptor: Int32
  private let directory: TemporaryDirectory

  /// Creates a socket that listens.
  ///
  /// - Throws: `TemporaryDirectory.Failure` if the socket cannot be created.
  package init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("listener.sock")
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    descriptor = listener
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(listener, 16) == 0 else { throw TemporaryDirectory.Failure(code: errno) }
  }

  deinit { close(descriptor) }

  /// Waits for a connection, and returns its descriptor. Returns a negative number if
  /// ``shutDown()`` was called.
  package func accept() -> Int32 {
    Self.accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
  }

  /// The system function `accept4`, which the module `Glibc` does not declare.
  private static let accept4 = unsafeBitCast(
    dlsym(nil, "accept4"),
    to: (@convention(c) (Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32) -> Int32)
      .self)

  /// Makes all current and later calls of ``accept()`` return. The descriptor stays open until the
  /// object is destroyed.
  package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends all bytes, or as many as the other side accepts before it closes the connection.
  package static func write(_ bytes: [UInt8], to connection: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads a number of frames and discards them. Reads fewer if the other side closes the connection.
  package static func discardFrames(_ count: Int, from connection: Int32) {
    for _ in 0..<count {
      var length = UInt32(0)
      guard recv(connection, &length, 4, Int32(MSG_WAITALL)) == 4 else { return }
      var message = [UInt8](repeating: 0, count: Int(UInt32(littleEndian: length)))
      _ = recv(connection, &message, message.count, Int32(MSG_WAITALL))
    }
  }

  /// Returns a frame: the length of the message in four bytes, and then the message.
  package static func frame(_ message: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(message.count).littleEndian, Array.init) + message
  }
}
