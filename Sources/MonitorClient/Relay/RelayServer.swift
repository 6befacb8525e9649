// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import MonitorTransport
import NIOCore

/// A relay on its channel to the viewer. All methods must be called on the event loop.
final class RelayServer: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The delay before the relay looks again for processes that it awaits.
  private static let pause = TimeAmount.milliseconds(100)

  private let find: @Sendable () -> [RelayTarget]?
  private let patience: Duration
  private let finish: (Relay.Ending) -> Void
  private var conversation = RelayConversation()
  private var processes: [UInt32: RelayedProcess] = [:]
  private var context: ChannelHandlerContext?
  /// The reason why the relay ends before its input ends; `nil` if there is none.
  private var failure: String?

  /// Creates a relay.
  ///
  /// - Parameters:
  ///   - find: A function that returns the targets, or `nil` to be called again after a delay. It is called on another
  ///     thread, which it may block for a short time.
  ///   - patience: The time without input after which the channel triggers `IdleStateHandler.IdleStateEvent.read`.
  ///   - finish: A closure that is called once, when the channel is closed.
  init(
    find: @escaping @Sendable () -> [RelayTarget]?, patience: Duration,
    finish: @escaping (Relay.Ending) -> Void
  ) {
    self.find = find
    self.patience = patience
    self.finish = finish
  }

  // MARK: The viewer

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: RelayPreamble.bytes)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    do throws(WireError) {
      let request = try RelayRequest(decoding: Array(unwrapInboundIn(data).readableBytesView))
      perform(conversation.take(request))
    } catch {
      perform(conversation.fault("\(error)"))
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.flush()
    context.fireChannelReadComplete()
  }

  /// Stops reading from processes while the viewer does not read.
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    for process in processes.values { process.setReading(context.channel.isWritable) }
    context.fireChannelWritabilityChanged()
  }

  /// Ends the relay if the viewer has sent nothing for too long.
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? IdleStateHandler.IdleStateEvent == .read {
      perform(conversation.expire(after: patience))
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is MessageFraming.TooLong {
      perform(conversation.fault(RelayFailure.tooLong))
    } else {
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    for process in processes.values { process.close() }
    processes = [:]
    finish(failure.map { .failed($0) } ?? .inputEnded)
    context.fireChannelInactive()
  }

  private func perform(_ actions: [RelayConversation.Action]) {
    for action in actions {
      switch action {
      case .find: findTargets()
      case .send(let answer): send(answer)
      case .connect(let connection, let path): connect(connection, path)
      case .forward(let message): processes[message.connection]?.send(message.bytes)
      case .close(let connection): processes.removeValue(forKey: connection)?.close()
      case .fail(let farewell): fail(farewell)
      }
    }
  }

  private func send(_ answer: RelayAnswer) {
    guard let context else { return }
    // Otherwise a viewer that does not read could request any number of answers, and all of them would use memory.
    if case .pong = answer, !context.channel.isWritable { return }
    let message = MessageFraming.framed(answer.encoded(), allocator: context.channel.allocator)
    context.write(wrapOutboundOut(message), promise: nil)
  }

  private func fail(_ farewell: Farewell) {
    failure = farewell.sentence
    send(.bye(farewell))
    context?.flush()
    // The channel sends the farewell before it closes, unless the viewer does not read.
    context?.close(promise: nil)
  }

  // MARK: The processes

  private func findTargets() {
    guard let context else { return }
    let loop = context.eventLoop
    let me = NIOLoopBound(self, eventLoop: loop)
    DispatchQueue.global().async { [find] in
      let targets = find()
      loop.execute { me.value.take(targets, on: loop) }
    }
  }

  private func take(_ targets: [RelayTarget]?, on loop: any EventLoop) {
    guard let targets else {
      let me = NIOLoopBound(self, eventLoop: loop)
      loop.scheduleTask(in: Self.pause) { me.value.findTargets() }
      return
    }
    perform(conversation.greet(targets))
    context?.flush()
  }

  private func connect(_ connection: UInt32, _ path: String) {
    guard let context else { return }
    let process = RelayedProcess(path: path) { [self] event in
      switch event {
      case .message(let message):
        let bytes = Array(message.readableBytesView)
        send(.message(RelayedMessage(connection: connection, bytes: bytes)))
      case .heard: self.context?.flush()
      case .ended(let refusal):
        processes[connection] = nil
        perform(conversation.end(connection, refusal))
        self.context?.flush()
      }
    }
    processes[connection] = process
    process.open(on: context.eventLoop, isReading: context.channel.isWritable)
  }
}
