// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol
import MonitorTransport
import NIOCore
import OperationsCollector

/// The connection of one viewer to this process. Only the connections' thread uses it.
///
/// If a viewer does not read, no messages are stored for it. The connection requests an update from
/// the session only when the viewer can receive it, and later changes are merged into that update.
/// The connection reads commands only while the number of unanswered commands is below a limit.
final class ViewerConnection: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The maximum time for a viewer to send its greeting.
  static let patience = TimeAmount.seconds(10)
  /// The maximum number of unanswered commands. When it is reached, the connection reads no further
  /// message until a command is answered.
  private static let mostUnanswered = 64

  private let guests: GuestList
  private let patience: TimeAmount
  private let origin: CommandOrigin
  private var conversation = ViewerConversation()
  private var isGuest = false
  /// Whether the connection is counted as a viewer that may send commands.
  private var isController = false
  /// Whether the viewer has connected and does not receive changes yet.
  private var isAwaited = true
  /// The end of the connection, which follows the last update; `nil` if the connection does not end
  /// yet.
  private var parting: (reason: String, waitsForViewer: Bool)?
  private var expiry: Scheduled<Void>?
  private var session: MonitorSession?
  private var outbox = UpdateOutbox()
  /// The tokens of the unanswered commands, in the order of the commands. The commands are answered
  /// in the same order.
  private var tokens: [UInt32] = []
  /// Whether the viewer may only watch and not send commands.
  private var isReadOnly = true
  private var isPumping = false
  /// Whether `pump(_:)` was called while it was already running.
  private var mustPumpAgain = false
  /// Whether the connection has postponed reading until it can handle further messages.
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
    let entry = guests.enter(ObjectIdentifier(self)) { parting in
      loop.execute {
        let (connection, context) = me.value
        connection.part(parting, context)
      }
    }
    switch entry {
    case .isFull: return perform(conversation.turnAway(), context)
    case .isClosed: return perform(conversation.end(Listener.stopReason), context)
    case .isIn:
      isGuest = true
      guests.awaitedViewer?.noteConnection(origin)
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
    leave()
    context.fireChannelInactive()
  }

  private func leave() {
    if isGuest {
      guests.leave(ObjectIdentifier(self))
      noteAnswer()
    }
    isGuest = false
    if isController { guests.controllers.change(by: -1) }
    isController = false
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    do throws(WireError) {
      let message = try ViewerMessage(decoding: Array(bytes.readableBytesView))
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
    conversation.isOver || context.channel.isWritable && tokens.count < Self.mostUnanswered
  }

  // MARK: Actions

  private func perform(_ actions: [ViewerConversation.Action], _ context: ChannelHandlerContext) {
    for action in actions {
      switch action {
      case .send(let message): send(message.encoded(), context)
      case .greet: greet(context)
      case .watch(let interest, let interval): watch(interest, interval, context)
      case .perform(let command, let token):
        // A command needs a session. If the viewer has not set an interest yet, this opens a
        // session.
        watchNothing(context)
        tokens.append(token)
        session?.send(command)
      case .credit(let count):
        outbox.grant(count)
        pump(context)
      case .note(let reason): guests.noteRefusal(reason, origin)
      case .close:
        // Output that is not written before the connection is closed is discarded, even a farewell
        // message.
        context.flush()
        context.close(promise: nil)
      case .finish: finish(context)
      }
    }
    context.flush()
  }

  // MARK: The end

  /// Ends the connection because the process ends or stops listening.
  private func part(_ parting: GuestList.Parting, _ context: ChannelHandlerContext) {
    switch parting {
    case .afterLastUpdate(let reason, let waitsForViewer):
      self.parting = (reason, waitsForViewer)
      guard let session else { return perform(conversation.end(reason), context) }
      session.requestLastUpdate()
      pump(context)
      let me = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: Listener.patienceForLastUpdate) {
        let (connection, context) = me.value
        connection.perform(connection.conversation.end(reason), context)
      }
    case .withoutUpdate(let reason):
      self.parting = (reason, true)
      perform(conversation.end(reason), context)
    case .cutOff: context.close(promise: nil)
    }
  }

  /// Closes the connection for output after all messages are sent. The viewer then reads all of
  /// them and closes the connection. If the connection were closed completely, a message that the
  /// viewer sends at the same time could make its unread messages unreadable.
  private func finish(_ context: ChannelHandlerContext) {
    session?.invalidate()
    session = nil
    let me = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.flush()
    let isSent = context.eventLoop.makePromise(of: Void.self)
    isSent.futureResult.whenComplete { _ in
      let (connection, _) = me.value
      if connection.parting?.waitsForViewer != true { connection.leave() }
    }
    context.close(mode: .output, promise: isSent)
    // A viewer that does not read does not keep the connection open.
    context.eventLoop.scheduleTask(in: Listener.patienceAtEnd) {
      me.value.1.close(promise: nil)
    }
    read(context: context)
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
    // From now on, the queues store records of all changes for this viewer.
    noteAnswer()
    if isGuest, !conversation.isViewerReadOnly {
      isController = true
      guests.controllers.change(by: 1)
    }
  }

  /// Notes once that the process need not wait for this connection.
  private func noteAnswer() {
    guard isAwaited else { return }
    isAwaited = false
    guests.awaitedViewer?.noteAnswer(origin)
  }

  private func send(_ message: [UInt8], _ context: ChannelHandlerContext) {
    let buffer = MessageFraming.framed(message, allocator: context.channel.allocator)
    context.write(wrapOutboundOut(buffer), promise: nil)
  }

  /// Sends messages and parts of updates until the socket accepts no further output.
  ///
  /// During a write, the channel may call this method again, because the socket stops or begins to
  /// accept output. Such a call only sets a flag, and the running call continues.
  private func pump(_ context: ChannelHandlerContext) {
    guard !isPumping else { return mustPumpAgain = true }
    isPumping = true
    defer { isPumping = false }
    repeat {
      mustPumpAgain = false
      sendWaiting(context)
      context.flush()
    } while mustPumpAgain
    if let parting, session?.hasGivenLastUpdate == true, outbox.isEmpty {
      perform(conversation.end(parting.reason), context)
    }
    if holdsRead, mayRead(context) {
      holdsRead = false
      context.read()
    }
  }

  private func sendWaiting(_ context: ChannelHandlerContext) {
    while context.channel.isWritable, let session {
      if let part = outbox.next() {
        send(part, context)
        // The channel's `isWritable` counts output only after it is flushed.
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
        dependents: Array(result.dependents.prefix(WireLimits.mostDependentsOfResult)),
        refusals: result.refusals)
      send(answer.encoded(), context)
    }
  }
}
