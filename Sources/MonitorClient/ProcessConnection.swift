// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// The connection to a monitored process. Used on its event loop alone.
final class ProcessConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// What it tells who has made it.
  enum Event {
    /// The process can be watched.
    case greeted(Hello, versions: ProtocolVersions)
    /// The process says this.
    case message(MonitorMessage)
    /// Something has come from the process, be it only a piece of a message.
    case heard
    /// It is over, for this reason; said once, and nothing after it.
    case closed(AttachError)
  }

  private let path: String
  private let isReadOnly: Bool
  private let receive: (Event) -> Void
  private var conversation: ProcessConversation
  private var isOver = false
  private var context: ChannelHandlerContext?

  /// - Parameters:
  ///   - path: Where the socket is.
  ///   - isReadOnly: Whether the viewer gives no commands.
  ///   - ledger: What is held of the process's operations.
  ///   - receive: Is told what comes.
  init(
    path: String, isReadOnly: Bool, ledger: OperationLedger = OperationLedger(),
    receive: @escaping (Event) -> Void
  ) {
    conversation = ProcessConversation(ledger: ledger)
    self.path = path
    self.isReadOnly = isReadOnly
    self.receive = receive
  }

  // MARK: Connecting

  /// Connects; whether that succeeds, it tells as an event. To be called on the loop.
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
    case ENOENT: return AttachError(.nothingThere, "there is no socket at \(path)")
    case ECONNREFUSED, ENOTSOCK: return AttachError(.nothingThere, "nothing listens at \(path)")
    case EACCES, EPERM: return AttachError(.denied, "access to \(path) is denied")
    case let code?:
      return AttachError(
        .lost, "cannot connect to \(path): \(String(cString: strerror(code)))")
    case nil: return AttachError(.lost, "cannot connect to \(path): \(error)")
    }
  }

  /// The process has taken too long.
  func expire() { end(AttachError(.lost, "the process does not answer")) }

  // MARK: Talking

  /// Says what is wanted from now on.
  func watch(_ interest: Interest, interval: Duration) {
    send(.watch(interest, interval: interval))
  }

  /// Gives a command.
  func send(_ command: MonitorCommand) { perform(conversation.give(command)) }

  /// Takes so many more parts of updates.
  func grant(_ credit: Int) { perform(conversation.grant(credit)) }

  /// Asks whether the process is there.
  func ping() { send(.ping(0)) }

  /// Says goodbye, and closes. Nothing more is told.
  func close() {
    isOver = true
    send(.bye(reason: "the viewer goes"))
    context?.close(promise: nil)
  }

  private func send(_ message: ViewerMessage) {
    guard let context else { return }
    let buffer = MessageFraming.frame(
      message.encoded(), allocator: context.channel.allocator)
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  private func end(_ error: AttachError) {
    guard !isOver else { return }
    perform(conversation.end())
    isOver = true
    receive(.closed(error))
    context?.close(promise: nil)
  }

  // MARK: The channel

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    // It took too long, or is wanted no more.
    guard !isOver else { return context.close(promise: nil) }
    let me = NIOLoopBound(self, eventLoop: context.eventLoop)
    PeerCredentials.origin(of: context.channel).whenComplete { me.value.greet($0) }
    context.fireChannelActive()
  }

  /// Says hello, but to nobody else's process: it could show anything.
  private func greet(_ peer: Result<CommandOrigin, any Error>) {
    guard !isOver else { return }
    switch peer {
    case .success(let peer):
      let name = PeerCheck.livingName(of: path)
      if let refusal = PeerCheck.refusal(of: peer, named: name, user: geteuid()) {
        return end(refusal)
      }
      send(.hello(ViewerHello(processID: getpid(), isReadOnly: isReadOnly)))
    case .failure(let error):
      end(AttachError(.lost, "the system does not say whose socket it is: \(error)"))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(AttachError(.lost, "the process has closed the connection"))
    self.context = nil
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    let frame = unwrapInboundIn(data)
    do throws(WireError) {
      let message = try ProcessMessage(decoding: Array(frame.readableBytesView))
      perform(conversation.take(message))
    } catch {
      end(AttachError(.lost, "the process does not keep to the protocol: \(error)"))
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
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
      case .deliver(let message): receive(.message(message))
      case .send(let message): send(message)
      case .fail(let error): end(error)
      }
    }
  }
}

/// The thread of all connections of this program.
enum ConnectionLoop {
  /// Its loop; there is none before somebody asks.
  static let shared: any EventLoop = ConnectionThread.makeGroup(named: "opq-connection").next()
}
