// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOCore

/// Carries the messages between this program and a monitored process, whole and unchanged. All methods must be called
/// on the event loop.
protocol ProcessTransport: AnyObject {
  /// Connects to the process. The receiver is called on the loop from now on, at first possibly within this call, until
  /// the transport has ended or is closed.
  ///
  /// - Parameters:
  ///   - receiver: The object that receives the messages. The transport keeps it until it has ended or is closed.
  ///   - loop: The event loop.
  func open(for receiver: any TransportReceiver, on loop: any EventLoop)
  /// Sends a message after the next call of ``flush()``. Before the transport has connected and after it has ended, the
  /// message is discarded.
  func send(_ message: [UInt8])
  /// Sends the messages that were not sent yet.
  func flush()
  /// Closes the connection after the messages that were flushed. A second call does nothing.
  func close()
}

/// Receives the messages of a ``ProcessTransport``.
protocol TransportReceiver: AnyObject {
  /// The transport begins to connect. A transport that first needs a link calls the method when the link exists.
  func transportBeginsToConnect(on loop: any EventLoop)
  /// The transport can send messages.
  func transportHasConnected()
  /// The transport has received a message.
  func transportHasReceived(_ message: ByteBuffer)
  /// No further bytes have arrived at this moment.
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
