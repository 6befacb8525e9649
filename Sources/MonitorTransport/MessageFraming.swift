// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
package import NIOCore

/// Cuts what comes over a socket into messages, and sends messages so that the other side can: before
/// each one stands its length in bytes, as four bytes with the lowest first.
package struct MessageFraming: ByteToMessageDecoder {
  package typealias InboundOut = ByteBuffer

  /// A message that announces more bytes than there may be. None of them is waited for.
  package struct TooLong: Error {}

  /// Lets a channel's handlers take and give whole messages.
  ///
  /// - Parameters:
  ///   - handlers: Those behind it, from the socket on.
  ///   - channel: The channel, on whose loop this is called.
  /// - Throws: `ChannelError` where the channel is closed already.
  package static func add(
    before handlers: any ChannelHandler..., in channel: any Channel
  ) throws {
    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(MessageFraming()))
    try channel.pipeline.syncOperations.addHandlers(handlers)
  }

  /// A message with its length before it.
  package static func frame(_ message: [UInt8], allocator: ByteBufferAllocator) -> ByteBuffer {
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
    guard length <= WireLimits.maximumFrame else { throw TooLong() }
    guard let message = buffer.readLengthPrefixedSlice(endianness: .little, as: UInt32.self) else {
      return .needMoreData
    }
    context.fireChannelRead(Self.wrapInboundOut(message))
    return .continue
  }

  /// What is left when the connection ends is no message.
  package mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    .needMoreData
  }
}
