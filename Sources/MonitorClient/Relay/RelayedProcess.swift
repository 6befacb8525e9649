// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTransport
import NIOCore

/// The connection of a relay to a process. All methods must be called on the event loop.
final class RelayedProcess: TransportReceiver {
  /// An event of the connection.
  enum Event {
    /// A message has arrived from the process.
    case message(ByteBuffer)
    /// Bytes have arrived, and an event has reported each complete message in them.
    case heard
    /// The connection has ended. No event follows.
    case ended(RelayRefusal)
  }

  /// The maximum number of bytes that wait because the process does not read. If more bytes wait, the next message ends
  /// the connection.
  private static let longestBacklog = WireLimits.maximumMessageSize

  private let path: String
  private let transport: SocketTransport
  private var receive: ((Event) -> Void)?
  private var isConnected = false
  /// The messages that arrived before the connection was established.
  private var early: [[UInt8]] = []

  /// Creates a connection that is not yet connected.
  ///
  /// - Parameters:
  ///   - path: The path of the socket.
  ///   - receive: A closure that is called with each event.
  init(path: String, receive: @escaping (Event) -> Void) {
    self.path = path
    self.receive = receive
    transport = SocketTransport(path: path)
  }

  /// Connects to the process.
  ///
  /// - Parameters:
  ///   - loop: The event loop.
  ///   - isReading: Whether messages are read from the socket as soon as they arrive.
  func open(on loop: any EventLoop, isReading: Bool) {
    transport.setReading(isReading)
    transport.open(for: self, on: loop)
  }

  /// Sets whether messages are read from the socket as soon as they arrive.
  func setReading(_ isReading: Bool) { transport.setReading(isReading) }

  /// Sends a message to the process. If the process does not read its messages, ends the connection.
  func send(_ message: [UInt8]) {
    let backlog = isConnected ? transport.unsentByteCount : early.reduce(0) { $0 + $1.count }
    guard backlog <= Self.longestBacklog else {
      transport.close()
      return end(AttachError(.lost, "the process does not read its messages"))
    }
    guard isConnected else { return early.append(message) }
    transport.send(message)
    transport.flush()
  }

  /// Closes the connection. No event follows.
  func close() {
    receive = nil
    transport.close()
  }

  private func end(_ error: AttachError) {
    let receive = receive
    self.receive = nil
    let hasEnded = MonitorSocketName(path: path).map { !$0.isAlive } ?? false
    receive?(.ended(RelayRefusal(error, hasProcessEnded: hasEnded)))
  }

  // MARK: The transport

  func transportBeginsToConnect(on loop: any EventLoop) {}

  func transportHasConnected() {
    isConnected = true
    for message in early { transport.send(message) }
    early = []
    transport.flush()
  }

  func transportHasReceived(_ message: ByteBuffer) { receive?(.message(message)) }

  func transportHasFinishedReading() { receive?(.heard) }

  func transportHasEnded(_ end: TransportEnd) { self.end(end.error) }
}
