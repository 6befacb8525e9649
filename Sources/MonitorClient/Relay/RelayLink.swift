// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// The viewer's end of a link to a relay, which serves all sessions with the processes of one place.
///
/// The link runs a command on this machine, for example ssh, which runs the relay at the place. If the command ends or
/// does not answer, all sessions lose their connections. The first session that reconnects starts the command again.
/// The targets of a link never change.
package final class RelayLink: Sendable {
  /// The state of the link, which is used only on the event loop.
  private struct State {
    var conversation: LinkConversation
    /// The running command; `nil` if it does not run.
    var command: LinkCommand?
    /// The number of commands that have not ended, including abandoned ones.
    var runningCount = 0
    /// The closures to call when no command runs.
    var endWaiters: [@Sendable () -> Void] = []
    var transports: [UInt32: RelayTransport] = [:]
    /// The connections that have received messages since the last call of ``RelayTransport/finishReading()``.
    var busy: Set<UInt32> = []
    /// The result of the first connection to the relay; `nil` before it is known.
    var result: Result<[RelayedTarget], AttachError>?
    var waiters: [@Sendable (Result<[RelayedTarget], AttachError>) -> Void] = []
  }

  /// The place of the relay.
  package let place: RemotePlace
  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>

  /// Creates a link. The initializer does not start the command.
  ///
  /// - Parameters:
  ///   - place: The place of the relay.
  ///   - arguments: The arguments of `opq-top relay`: the processes, or none for all processes of the user there.
  package init(_ place: RemotePlace, arguments: [String]) {
    self.place = place
    loop = ConnectionLoop.shared
    state = NIOLoopBoundBox.makeBoxSendingValue(
      State(conversation: LinkConversation(place, arguments: arguments)), eventLoop: loop)
  }

  // MARK: Called by the viewer

  /// Starts the command if it does not run. A session does this too. After ``invalidate()``, a call has no effect.
  package func connect() {
    loop.execute { self.perform(self.state.value.conversation.connect(at: .now)) }
  }

  /// Calls a closure on any thread with the targets of the first connection to the relay, or with the reason why this
  /// connection has failed. The method does not start the command. If the link is invalidated before its first
  /// connection, the closure receives an error.
  package func whenGreeted(
    _ body: @escaping @Sendable (Result<[RelayedTarget], AttachError>) -> Void
  ) {
    loop.execute {
      if let result = self.state.value.result { return body(result) }
      self.state.value.waiters.append(body)
    }
  }

  /// Ends the link and the connections of its sessions. The link closes the input of the command, and kills the command
  /// if it does not end within 300 ms. If the relay has not sent its greeting, the link kills the command at once. A
  /// second call has no effect.
  package func invalidate() {
    loop.execute { self.perform(self.state.value.conversation.invalidate()) }
  }

  /// Ends links as ``invalidate()`` does, and blocks the calling thread until their commands have ended, at most for
  /// 1 s. Call this function before this program ends, so that no command continues to run. The links may have been
  /// invalidated before. The function must not be called in a closure that a link calls.
  package static func end(_ links: [RelayLink]) {
    let ended = DispatchGroup()
    for link in links {
      ended.enter()
      link.invalidate()
      link.whenEnded { ended.leave() }
    }
    _ = ended.wait(timeout: .now() + .seconds(1))
  }

  /// Calls a closure when no command of the link runs.
  private func whenEnded(_ body: @escaping @Sendable () -> Void) {
    loop.execute {
      if self.state.value.runningCount == 0 { return body() }
      self.state.value.endWaiters.append(body)
    }
  }

  /// The error for a process that is requested while the command does not run; `nil` if it runs. The property must be
  /// read on the event loop, after the result of the first connection is known.
  var loss: AttachError? {
    state.value.command == nil ? RelayFailure.loss(of: place) : nil
  }

  // MARK: Called by transports on the loop

  /// Opens a connection to the target with a number.
  ///
  /// - Parameters:
  ///   - transport: The transport. It is kept until the connection has ended or is closed.
  ///   - number: The number of the target.
  ///   - assign: A closure that is called with the number of the connection before the transport is called.
  func open(_ transport: RelayTransport, to number: Int, assign: (UInt32) -> Void) {
    let connection = state.value.conversation.makeConnection(to: number)
    state.value.transports[connection] = transport
    assign(connection)
    perform(state.value.conversation.open(connection, at: .now))
  }

  /// Sends a message on a connection when ``flush()`` is called next.
  func send(_ message: [UInt8], on connection: UInt32) {
    perform(state.value.conversation.send(message, on: connection))
  }

  /// Sends the messages that were not sent yet.
  func flush() { state.value.command?.flush() }

  /// Closes a connection.
  func close(_ connection: UInt32) {
    state.value.transports[connection] = nil
    perform(state.value.conversation.close(connection))
    flush()
  }

  // MARK: On the loop

  private func perform(_ actions: [LinkConversation.Action]) {
    for action in actions { perform(action) }
  }

  private func perform(_ action: LinkConversation.Action) {
    switch action {
    case .start(let arguments): start(arguments)
    case .send(let request):
      state.value.command?.send(request.encoded())
      // The transports flush the messages of their connections.
      if case .message = request { return }
      flush()
    case .greet(let targets): decide(.success(targets))
    case .refuse(let error): decide(.failure(error))
    case .begin(let connection): state.value.transports[connection]?.begin(on: loop)
    case .deliver(let message):
      state.value.busy.insert(message.connection)
      state.value.transports[message.connection]?.take(message.bytes)
    case .end(let connection, let end):
      state.value.transports.removeValue(forKey: connection)?.end(end)
    case .finish: state.value.command?.stop()
    case .abandon(let kills):
      let command = state.value.command
      state.value.command = nil
      command?.abandon(kills: kills)
    }
  }

  private func decide(_ result: Result<[RelayedTarget], AttachError>) {
    state.value.result = result
    let waiters = state.value.waiters
    state.value.waiters = []
    for waiter in waiters { waiter(result) }
  }

  private func start(_ arguments: [String]) {
    do throws(AttachError) {
      let command = try LinkCommand(try place.command(arguments: arguments), on: loop) { [self] in
        take($0)
      }
      state.value.command = command
      state.value.runningCount += 1
      command.whenExited = { [self] in noteEnd() }
      lookLater(NIOLoopBound(command, eventLoop: loop))
    } catch {
      // The caller may still be opening its connection. Therefore the error is reported later.
      loop.execute { self.perform(self.state.value.conversation.end(error)) }
    }
  }

  private func noteEnd() {
    state.value.runningCount -= 1
    guard state.value.runningCount == 0 else { return }
    let waiters = state.value.endWaiters
    state.value.endWaiters = []
    for waiter in waiters { waiter() }
  }

  private func take(_ event: LinkCommand.Event) {
    switch event {
    case .preamble: perform(state.value.conversation.takePreamble(at: .now))
    case .text: perform(state.value.conversation.takeText())
    case .message(let message): take(message)
    case .heard:
      state.value.conversation.hear(at: .now)
      let busy = state.value.busy
      state.value.busy = []
      for connection in busy { state.value.transports[connection]?.finishReading() }
    case .fault(let reason): perform(state.value.conversation.takeFault(reason))
    case .stalled: perform(state.value.conversation.takeStall())
    case .ended(let end):
      state.value.command = nil
      perform(state.value.conversation.end(RelayFailure.error(of: end, at: place)))
    }
  }

  private func take(_ message: ByteBuffer) {
    do throws(WireError) {
      let answer = try RelayAnswer(decoding: Array(message.readableBytesView))
      perform(state.value.conversation.take(answer))
    } catch {
      perform(state.value.conversation.takeFault("\(error)"))
    }
  }

  /// Repeatedly checks whether the command sends bytes, until it is replaced or ends.
  private func lookLater(_ command: NIOLoopBound<LinkCommand>) {
    guard let moment = state.value.conversation.nextLook else { return }
    loop.scheduleTask(in: TimeAmount(moment - .now)) { [self] in
      guard state.value.command === command.value else { return }
      perform(state.value.conversation.look(at: .now, text: command.value.text))
      lookLater(command)
    }
  }
}
