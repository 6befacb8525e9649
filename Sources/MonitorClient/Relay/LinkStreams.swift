// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTransport
import NIOCore

/// Recognizes the preamble of a relay. After the preamble, the handler passes all bytes on.
final class RelayPreambleHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var preamble = RelayPreamble()
  private var isComplete = false
  private var isText = false
  private let receive: (RelayPreamble.Verdict) -> Void

  /// Creates a handler.
  ///
  /// - Parameter receive: A closure that is called once, with a result other than `incomplete`.
  init(receive: @escaping (RelayPreamble.Verdict) -> Void) { self.receive = receive }

  /// The first line of the text that has arrived instead of the preamble; empty if no text has arrived.
  var text: String { preamble.firstLine.text }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isComplete { return context.fireChannelRead(data) }
    // The bytes after the first line of a text are discarded.
    guard !isText else { return }
    var buffer = unwrapInboundIn(data)
    let verdict = preamble.take(buffer.readableBytesView)
    switch verdict {
    case .incomplete: break
    case .text:
      isText = true
      receive(verdict)
    case .complete(let count):
      isComplete = true
      receive(verdict)
      buffer.moveReaderIndex(forwardBy: count)
      if buffer.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(buffer)) }
    }
  }
}

/// Receives the messages of a relay.
final class RelayMessageHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// An event of the stream.
  enum Event {
    /// A message has arrived.
    case message(ByteBuffer)
    /// Bytes have arrived, and an event has reported each complete message in them.
    case heard
    /// Bytes have arrived that cannot be a message.
    case fault(String)
    /// The stream has ended. No event follows.
    case closed
  }

  private let receive: (Event) -> Void

  /// Creates a handler that calls a closure with each event.
  init(receive: @escaping (Event) -> Void) { self.receive = receive }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    receive(.message(unwrapInboundIn(data)))
  }

  func channelReadComplete(context: ChannelHandlerContext) { receive(.heard) }

  func channelInactive(context: ChannelHandlerContext) { receive(.closed) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isTooLong = error is MessageFraming.TooLong
    receive(.fault(isTooLong ? RelayFailure.tooLong : "\(error)"))
  }
}

/// Keeps the last bytes of a stream.
final class StreamTail: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// The maximum number of bytes that are kept.
  private static let limit = 4_096

  /// The last bytes that have arrived.
  private(set) var bytes: [UInt8] = []
  private let whenClosed: () -> Void

  /// Creates a handler that calls a closure at the end of the stream.
  init(whenClosed: @escaping () -> Void) { self.whenClosed = whenClosed }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView.suffix(Self.limit)
    bytes.removeFirst(max(0, bytes.count - Self.limit))
  }

  func channelInactive(context: ChannelHandlerContext) { whenClosed() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
