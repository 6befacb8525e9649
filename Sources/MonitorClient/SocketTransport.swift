// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// Transfers the messages of a process over its socket. All methods must be called on the event loop.
final class SocketTransport: ProcessTransport, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let path: String
  private var receiver: (any TransportReceiver)?
  private var context: ChannelHandlerContext?
  /// Whether the connection has ended or is closed.
  private var isOver = false
  /// Whether bytes are read from the socket as soon as they arrive.
  private var isReading = true

  /// Creates a transport that is not yet connected.
  ///
  /// - Parameter path: The path of the socket.
  init(path: String) { self.path = path }

  func open(for receiver: any TransportReceiver, on loop: any EventLoop) {
    self.receiver = receiver
    receiver.transportBeginsToConnect(on: loop)
    let path = path
    let me = NIOLoopBound(self, eventLoop: loop)
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try MessageFraming.add(before: me.value, in: channel)
        }
      }
      .connect(unixDomainSocketPath: path)
      .whenFailure { me.value.end(Self.reason(for: $0, at: path)) }
  }

  private static func reason(for error: any Error, at path: String) -> AttachError {
    if case SocketAddressError.unixDomainSocketPathTooLong = error {
      return AttachError(.nothingThere, "the path of the socket is too long: \(path)")
    }
    switch (error as? IOError)?.errnoCode {
    case cmonitor_error_no_such_file:
      return AttachError(.nothingThere, "there is no socket at \(path)")
    case cmonitor_error_connection_refused, cmonitor_error_not_a_socket:
      return AttachError(.nothingThere, "no process listens at \(path)")
    case cmonitor_error_permission_denied, cmonitor_error_operation_not_permitted:
      return AttachError(.denied, "access to \(path) is denied")
    case let code?:
      return AttachError(
        .lost, "cannot connect to \(path): \(String(cString: cmonitor_error_text(code)))")
    case nil: return AttachError(.lost, "cannot connect to \(path): \(error)")
    }
  }

  func send(_ message: [UInt8]) {
    guard let context else { return }
    let buffer = MessageFraming.framed(message, allocator: context.channel.allocator)
    context.write(wrapOutboundOut(buffer), promise: nil)
  }

  func flush() { context?.flush() }

  func close() {
    isOver = true
    receiver = nil
    context?.close(promise: nil)
  }

  private func end(_ error: AttachError) {
    guard !isOver else { return }
    isOver = true
    // The receiver may close this transport.
    let receiver = receiver
    self.receiver = nil
    receiver?.transportHasEnded(TransportEnd(error))
    context?.close(promise: nil)
  }

  // MARK: Flow control of a relay

  /// The number of bytes that were sent and that the system has not accepted yet, because the process does not read.
  var unsentByteCount: Int {
    guard let context else { return 0 }
    return (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Sets whether bytes are read from the socket as soon as they arrive; `true` by default. If they are not read, the
  /// process can send only as many bytes as the buffers of the socket can contain.
  func setReading(_ isReading: Bool) {
    guard isReading != self.isReading else { return }
    self.isReading = isReading
    context.map { Self.setReading(isReading, in: $0) }
  }

  private static func setReading(_ isReading: Bool, in context: ChannelHandlerContext) {
    // The option cannot fail for a channel that is open, and has no effect on another one.
    try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
  }

  // MARK: The channel

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    // If the timeout has passed or the viewer has closed the connection before it was established,
    // it is closed at once.
    guard !isOver else { return context.close(promise: nil) }
    if !isReading { Self.setReading(false, in: context) }
    let me = NIOLoopBound(self, eventLoop: context.eventLoop)
    PeerCredentials.origin(of: context.channel).whenComplete { me.value.connect($0) }
    context.fireChannelActive()
  }

  /// Reports to the receiver that the transport has connected, if the peer can be trusted. A process of another user
  /// could show false data.
  private func connect(_ peer: Result<CommandOrigin, any Error>) {
    guard !isOver else { return }
    switch peer {
    case .success(let peer):
      let name = PeerCheck.livingName(of: path)
      if let refusal = PeerCheck.refusal(of: peer, named: name, user: cmonitor_user_id()) {
        return end(refusal)
      }
      receiver?.transportHasConnected()
    case .failure(let error):
      end(AttachError(.lost, "cannot determine the owner of the socket: \(error)"))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(AttachError(.lost, "the process has closed the connection"))
    self.context = nil
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    receiver?.transportHasReceived(unwrapInboundIn(data))
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // Messages that were sent while messages were handled are not flushed yet, even if the connection is over.
    context.flush()
    receiver?.transportHasFinishedReading()
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(AttachError(.lost, "the connection failed: \(error)"))
  }
}
