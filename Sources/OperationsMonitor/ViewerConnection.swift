// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol
import MonitorTransport
import NIOCore
import OperationsCollector

/// One viewer at the other end of a socket. Used on the connections' thread alone.
///
/// Nothing is queued for a viewer that does not read: an update is taken from the session when the
/// viewer has room for it, and what changes meanwhile is merged into the next one. Commands are read as
/// long as not too many are unanswered.
final class ViewerConnection: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// How long a viewer may take to say hello.
  static let patience = TimeAmount.seconds(10)
  /// More commands than these are not read before one is answered.
  private static let mostUnanswered = 64

  private let guests: GuestList
  private let patience: TimeAmount
  private let origin: CommandOrigin
  private var conversation = ViewerConversation()
  private var isGuest = false
  private var expiry: Scheduled<Void>?
  private var session: MonitorSession?
  private var outbox = UpdateOutbox()
  /// The tokens of the commands that are not answered, in their order, which is that of the answers.
  private var tokens: [UInt32] = []
  /// Whether the viewer may only look, as it was told in the greeting.
  private var isReadOnly = true
  private var isPumping = false
  /// Something has come up while it was.
  private var mustPumpAgain = false
  /// Whether more is to be read once there is room.
  private var holdsRead = false

  init(guests: GuestList, origin: CommandOrigin, patience: TimeAmount) {
    self.guests = guests
    self.patience = patience
    self.origin = origin
  }

  // MARK: The channel

  func channelActive(context: ChannelHandlerContext) {
    let me = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    let entry = guests.enter(ObjectIdentifier(self)) {
      loop.execute {
        let (connection, context) = me.value
        connection.perform(connection.conversation.end(), context)
      }
    }
    switch entry {
    case .isFull: return perform(conversation.turnAway(), context)
    case .isClosed: return perform(conversation.end(), context)
    case .isIn: isGuest = true
    }
    expiry = context.eventLoop.scheduleTask(in: patience) {
      let (connection, context) = me.value
      connection.perform(connection.conversation.expire(), context)
    }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    expiry?.cancel()
    session?.invalidate()
    session = nil
    if isGuest { guests.leave(ObjectIdentifier(self)) }
    isGuest = false
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    do throws(WireError) {
      let message = try ViewerMessage(decoding: Array(frame.readableBytesView))
      perform(conversation.take(message), context)
    } catch {
      perform(conversation.takeFault("\(error)"), context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isTooLong = error is MessageFraming.TooLong
    perform(isTooLong ? conversation.takeFault("a message was too long") : [.close], context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    pump(context)
    context.fireChannelWritabilityChanged()
  }

  func read(context: ChannelHandlerContext) {
    holdsRead = !mayRead(context)
    if !holdsRead { context.read() }
  }

  private func mayRead(_ context: ChannelHandlerContext) -> Bool {
    context.channel.isWritable && tokens.count < Self.mostUnanswered
  }

  // MARK: Doing

  private func perform(_ actions: [ViewerConversation.Action], _ context: ChannelHandlerContext) {
    for action in actions {
      switch action {
      case .send(let message): send(message.encoded(), context)
      case .greet: greet(context)
      case .watch(let interest, let interval): watch(interest, interval, context)
      case .perform(let command, let token):
        // Without a watch before it there is nobody who could carry it out.
        watchNothing(context)
        tokens.append(token)
        session?.send(command)
      case .credit(let count):
        outbox.grant(count)
        pump(context)
      case .note(let reason): guests.noteRefusal(reason, origin)
      case .close:
        // What is not written by then is lost, a farewell too.
        context.flush()
        context.close(promise: nil)
      }
    }
    context.flush()
  }

  private func greet(_ context: ChannelHandlerContext) {
    expiry?.cancel()
    let mode = guests.mode
    isReadOnly = mode == .readOnly || conversation.isViewerReadOnly
    let hello = ProcessFacts.hello(isReadOnly: mode == .readOnly)
    send(ProcessMessage.hello(hello, versions: .current).encoded(), context)
  }

  private func watch(
    _ interest: Interest, _ interval: Duration, _ context: ChannelHandlerContext
  ) {
    if let session {
      session.watch(interest, minimumInterval: interval)
    } else {
      openSession(interest, interval, context)
    }
  }

  private func watchNothing(_ context: ChannelHandlerContext) {
    if session == nil { openSession(Interest(rowLimit: 0), .seconds(1), context) }
  }

  private func openSession(
    _ interest: Interest, _ interval: Duration, _ context: ChannelHandlerContext
  ) {
    let me = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    session = MonitorSession(
      minimumInterval: interval, interest: interest,
      isReadOnly: isReadOnly, origin: origin,
      audit: { [guests, origin] result in loop.execute { guests.note(result, from: origin) } }
    ) {
      loop.execute {
        let (connection, context) = me.value
        connection.pump(context)
      }
    }
  }

  private func send(_ frame: [UInt8], _ context: ChannelHandlerContext) {
    let buffer = MessageFraming.frame(frame, allocator: context.channel.allocator)
    context.write(wrapOutboundOut(buffer), promise: nil)
  }

  /// Sends what there is, as far as the viewer takes it.
  ///
  /// Writing calls back where the socket takes no more, or takes more again: that waits for its turn.
  private func pump(_ context: ChannelHandlerContext) {
    guard !isPumping else { return mustPumpAgain = true }
    isPumping = true
    defer { isPumping = false }
    repeat {
      mustPumpAgain = false
      sendWaiting(context)
      context.flush()
    } while mustPumpAgain
    if holdsRead, mayRead(context) {
      holdsRead = false
      context.read()
    }
  }

  private func sendWaiting(_ context: ChannelHandlerContext) {
    while context.channel.isWritable, let session {
      if let part = outbox.next() {
        send(part, context)
        // What is written counts once it is flushed.
        context.flush()
        continue
      }
      let messages = session.takeMessages(withUpdate: outbox.takesUpdate)
      if messages.isEmpty { break }
      for message in messages { take(message, context) }
    }
  }

  private func take(_ message: MonitorMessage, _ context: ChannelHandlerContext) {
    switch message {
    case .hello, .silent, .disconnected, .ended: break
    case .update(let update): outbox.begin(update)
    case .commandResult(let result):
      guard !tokens.isEmpty else { break }
      let answer = ProcessMessage.commandResult(
        token: tokens.removeFirst(), outcomes: result.outcomes,
        dependents: Array(result.dependents.prefix(WireLimits.mostDependentsOfResult)))
      send(answer.encoded(), context)
    }
  }
}
