// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import NIOCore

/// Transfers the messages of a process over a link to a relay. All methods must be called on the event loop.
final class RelayTransport: ProcessTransport {
  private let link: RelayLink
  private let number: Int
  private var receiver: (any TransportReceiver)?
  /// The number of the connection; `nil` before it is requested and after it has ended.
  private var connection: UInt32?

  /// Creates a transport that is not yet connected.
  ///
  /// - Parameters:
  ///   - link: The link to the relay.
  ///   - number: The number of the process, see ``RelayedTarget/number``.
  init(_ link: RelayLink, number: Int) {
    self.link = link
    self.number = number
  }

  func open(for receiver: any TransportReceiver, on loop: any EventLoop) {
    self.receiver = receiver
    link.open(self, to: number) { connection = $0 }
  }

  func send(_ message: [UInt8]) {
    if let connection { link.send(message, on: connection) }
  }

  func flush() { link.flush() }

  func close() {
    receiver = nil
    guard let connection else { return }
    self.connection = nil
    link.close(connection)
  }

  // MARK: Called by the link

  /// Begins to connect to the process. Messages can be sent at once, because the relay keeps them until it has
  /// connected.
  func begin(on loop: any EventLoop) {
    receiver?.transportBeginsToConnect(on: loop)
    receiver?.transportHasConnected()
  }

  /// Passes a message of the process to the receiver.
  func take(_ message: [UInt8]) { receiver?.transportHasReceived(ByteBuffer(bytes: message)) }

  /// Reports to the receiver that all messages that have arrived so far were passed to it.
  func finishReading() { receiver?.transportHasFinishedReading() }

  /// Handles the end of the connection.
  func end(_ end: TransportEnd) {
    connection = nil
    let receiver = receiver
    self.receiver = nil
    receiver?.transportHasEnded(end)
  }
}
