// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
package import NIOCore

/// Divides the bytes from a socket into messages. Before each message, the sender writes the length
/// of the message in bytes. The length has four bytes, the lowest byte first.
package struct MessageFraming: ByteToMessageDecoder {
  package typealias InboundOut = ByteBuffer

  /// The error for a message whose length exceeds the limit. The message is not read.
  package struct TooLong: Error {}

  /// The maximum length of a received message in bytes.
  private let limit: Int

  private init(limit: Int) { self.limit = limit }

  /// Adds the framing and the given handlers to a channel, so that the handlers receive complete
  /// messages.
  ///
  /// - Parameters:
  ///   - limit: The maximum length of a received message in bytes.
  ///   - handlers: The handlers to add after the framing. The first handler is the nearest to the
  ///     socket.
  ///   - channel: The channel. The method must be called on the channel's event loop.
  /// - Throws: `ChannelError` if the channel is closed already.
  package static func add(
    limit: Int = WireLimits.maximumMessageSize, before handlers: any ChannelHandler...,
    in channel: any Channel
  ) throws {
    let framing = ByteToMessageHandler(MessageFraming(limit: limit))
    try channel.pipeline.syncOperations.addHandler(framing)
    try channel.pipeline.syncOperations.addHandlers(handlers)
  }

  /// Returns the bytes to send for a message: its length, and then the message.
  package static func framed(_ message: [UInt8], allocator: ByteBufferAllocator) -> ByteBuffer {
    var buffer = allocator.buffer(capacity: message.count + 4)
    buffer.writeInteger(UInt32(message.count), endianness: .little)
    buffer.writeBytes(message)
    return buffer
  }

  package mutating func decode(
    context: ChannelHandlerContext, buffer: inout ByteBuffer
  ) throws -> DecodingState {
    let length = buffer.getInteger(at: buffer.readerIndex, endianness: .little, as: UInt32.self)
    guard let length else { return .needMoreData }
    guard length <= limit else { throw TooLong() }
    guard let message = buffer.readLengthPrefixedSlice(endianness: .little, as: UInt32.self) else {
      return .needMoreData
    }
    context.fireChannelRead(Self.wrapInboundOut(message))
    return .continue
  }

  /// Discards the remaining bytes when the connection ends, because they are not a complete
  /// message.
  package mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    .needMoreData
  }
}
