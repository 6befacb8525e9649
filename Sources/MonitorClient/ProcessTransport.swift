// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOCore

/// Transfers messages between this program and a monitored process, and does not change them. All methods must be
/// called on the event loop.
protocol ProcessTransport: AnyObject {
  /// Connects to the process. The transport calls the receiver on the loop until the transport has ended or is closed.
  /// The first call may occur before this method returns.
  ///
  /// - Parameters:
  ///   - receiver: The object that receives the messages. The transport keeps it until it has ended or is closed.
  ///   - loop: The event loop.
  func open(for receiver: any TransportReceiver, on loop: any EventLoop)
  /// Sends a message when ``flush()`` is called next. If the transport has not connected yet or has ended, the message
  /// is discarded.
  func send(_ message: [UInt8])
  /// Sends the messages that were not sent yet.
  func flush()
  /// Closes the connection. The messages that were flushed are sent before, unless the receiving end does not read. A
  /// second call does nothing.
  func close()
}

/// Receives the messages of a ``ProcessTransport``.
protocol TransportReceiver: AnyObject {
  /// The transport begins to connect. A transport over a link calls the method after the greeting of the relay.
  func transportBeginsToConnect(on loop: any EventLoop)
  /// The transport can send messages.
  func transportHasConnected()
  /// The transport has received a message.
  func transportHasReceived(_ message: ByteBuffer)
  /// The transport has received bytes, and all complete messages in them were passed to the receiver.
  func transportHasFinishedReading()
  /// The transport has ended. No call follows.
  func transportHasEnded(_ end: TransportEnd)
}

/// The end of a transport, or the reason why it cannot connect.
struct TransportEnd: Error, Equatable {
  /// The reason.
  let error: AttachError
  /// Whether a relay has reported that the process has ended.
  let hasProcessEnded: Bool

  init(_ error: AttachError, hasProcessEnded: Bool = false) {
    self.error = error
    self.hasProcessEnded = hasProcessEnded
  }

  /// Creates the end that a relay has reported.
  init(_ refusal: RelayRefusal) {
    self.init(AttachError(refusal), hasProcessEnded: refusal.hasProcessEnded)
  }
}
