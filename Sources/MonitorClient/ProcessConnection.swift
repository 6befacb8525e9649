// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// The connection of a viewer to a monitored process. All methods must be called on the
/// connection's event loop.
final class ProcessConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// An event of the connection.
  enum Event {
    /// The process has sent its greeting and can be watched.
    case greeted(Hello, versions: ProtocolVersions)
    /// Bytes have arrived from the process, possibly only a part of a message.
    case heard
    /// The connection has ended for this reason. No event follows this one.
    case closed(AttachError)
  }

  private let path: String
  private let isReadOnly: Bool
  private let deliver: (MonitorMessage) -> Void
  private let receive: (Event) -> Void
  private var conversation: ProcessConversation
  private var isOver = false
  /// Whether messages that have arrived are being handled at this moment.
  private var isReading = false
  private var context: ChannelHandlerContext?

  /// Creates a connection that is not yet connected.
  ///
  /// - Parameters:
  ///   - path: The path of the socket.
  ///   - isReadOnly: Whether the viewer sends no commands.
  ///   - ledger: Counts the memory for the process's operations.
  ///   - deliver: A closure that is called with each message of the process.
  ///   - receive: A closure that is called with each event of the connection.
  init(
    path: String, isReadOnly: Bool, ledger: OperationLedger = OperationLedger(),
    deliver: @escaping (MonitorMessage) -> Void = { _ in }, receive: @escaping (Event) -> Void
  ) {
    conversation = ProcessConversation(ledger: ledger)
    self.path = path
    self.isReadOnly = isReadOnly
    self.deliver = deliver
    self.receive = receive
  }

  // MARK: Connecting

  /// Connects to the process. An event reports success or failure. This method must be called on
  /// the event loop.
  func open(on loop: any EventLoop) {
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

  /// Ends the connection because the process has not answered in time.
  func expire() { end(AttachError(.lost, "the process does not answer")) }

  // MARK: Sending

  /// Sends the viewer's interest, which is the data that the viewer requests, to the process.
  func watch(_ interest: Interest, interval: Duration) {
    perform(conversation.watch(interest, interval: interval))
  }

  /// Sends a command to the process.
  func send(_ command: MonitorCommand) { perform(conversation.give(command)) }

  /// Allows the process to send a number of further parts of updates.
  func grant(_ credit: Int) { perform(conversation.grant(credit)) }

  /// Sends a ping, which the process must answer.
  func ping() { send(.ping(0)) }

  /// Sends a farewell message to the process and closes the connection. No event follows.
  func close() {
    isOver = true
    send(.bye(reason: "the viewer is closing the connection"))
    // `send` does not flush while a message is handled.
    context?.flush()
    context?.close(promise: nil)
  }

  private func send(_ message: ViewerMessage) {
    guard let context else { return }
    let buffer = MessageFraming.framed(
      message.encoded(), allocator: context.channel.allocator)
    context.write(wrapOutboundOut(buffer), promise: nil)
    // If the process has ended, a flush fails. The channel then reads the remaining bytes and closes. If this
    // happened while a message is handled, the messages after it would be lost.
    if !isReading { context.flush() }
  }

  private func end(_ error: AttachError) {
    guard !isOver else { return }
    perform(conversation.end())
    guard !isOver else { return }
    isOver = true
    receive(.closed(error))
    context?.close(promise: nil)
  }

  // MARK: The channel

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    // If the timeout has passed or the viewer has closed the connection before it was established,
    // it is closed at once.
    guard !isOver else { return context.close(promise: nil) }
    let me = NIOLoopBound(self, eventLoop: context.eventLoop)
    PeerCredentials.origin(of: context.channel).whenComplete { me.value.greet($0) }
    context.fireChannelActive()
  }

  /// Sends the greeting if the peer may be trusted. A process of another user could show false
  /// data.
  private func greet(_ peer: Result<CommandOrigin, any Error>) {
    guard !isOver else { return }
    switch peer {
    case .success(let peer):
      let name = PeerCheck.livingName(of: path)
      if let refusal = PeerCheck.refusal(of: peer, named: name, user: cmonitor_user_id()) {
        return end(refusal)
      }
      send(.hello(ViewerHello(processID: csystem_process_id(), isReadOnly: isReadOnly)))
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
    isReading = true
    let bytes = unwrapInboundIn(data)
    do throws(WireError) {
      let message = try ProcessMessage(decoding: Array(bytes.readableBytesView))
      perform(conversation.take(message))
    } catch {
      end(AttachError(.lost, "the process violates the protocol: \(error)"))
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    context.flush()
    if !isOver { receive(.heard) }
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(AttachError(.lost, "the connection failed: \(error)"))
  }

  private func perform(_ actions: [ProcessConversation.Action]) {
    for action in actions where !isOver {
      switch action {
      case .greeted(let hello, let versions): receive(.greeted(hello, versions: versions))
      case .deliver(let message): deliver(message)
      case .send(let message): send(message)
      case .fail(let error): end(error)
      }
    }
  }
}

/// The event loop of all connections of this program. It has its own thread.
enum ConnectionLoop {
  /// The event loop, which is created at its first use.
  static let shared: any EventLoop = ConnectionThread.makeGroup(named: "opq-connection").next()
}
