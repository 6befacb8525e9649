// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
package import NIOCore

/// Divides the bytes of a socket into messages, and marks messages so that the other side can do the same.
/// Before each message stands its length in bytes, as four bytes with the lowest first.
package struct MessageFraming: ByteToMessageDecoder {
  package typealias InboundOut = ByteBuffer

  /// The error for a message whose announced length exceeds the limit. The message is not read.
  package struct TooLong: Error {}

  /// Makes a channel's handlers receive and send whole messages.
  ///
  /// - Parameters:
  ///   - handlers: The handlers after the framing, in the order from the socket on.
  ///   - channel: The channel, on whose loop this is called.
  /// - Throws: `ChannelError` if the channel is closed already.
  package static func add(
    before handlers: any ChannelHandler..., in channel: any Channel
  ) throws {
    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(MessageFraming()))
    try channel.pipeline.syncOperations.addHandlers(handlers)
  }

  /// Returns a message with its length before it.
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
    guard length <= WireLimits.maximumMessageSize else { throw TooLong() }
    guard let message = buffer.readLengthPrefixedSlice(endianness: .little, as: UInt32.self) else {
      return .needMoreData
    }
    context.fireChannelRead(Self.wrapInboundOut(message))
    return .continue
  }

  /// Discards the rest when the connection ends, because it is not a complete message.
  package mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    .needMoreData
  }
}
