// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix
import Synchronization

/// A session with a process over a socket or a link to a relay.
///
/// If the connection is lost, the session reconnects while the process may still exist. The number
/// of updates that the viewer has not received is limited: the process gets permission to send
/// another update only when the viewer has received an earlier one.
package final class RemoteSession: MonitorSource {
  /// The default interval between updates: four updates per second.
  package static let usualInterval = Duration.milliseconds(250)
  /// The maximum number of parts of updates that the process may send before the viewer receives
  /// them.
  private static let credit = 8

  /// The messages for the viewer, protected by a lock.
  private struct State {
    var mailbox: Mailbox
    /// The number of updates in the mailbox that arrived over an earlier connection. When the
    /// viewer receives such an update, the process gets no permission to send another one.
    var oldUpdateCount = 0
    /// The error that prevents the session from reconnecting; `nil` if there is none.
    var loss: AttachError?
  }

  /// The state of the connection, which is used only on the event loop.
  private struct Connecting {
    var connection: ProcessConnection?
    var reconnection = Reconnection()
    /// Detects whether the process answers; `nil` if there is no connection.
    var silence: Silence?
    /// The watched process; `nil` if it is not visible on this machine.
    var process: LocalProcess?
    /// Whether a relay has reported that the process has ended.
    var hasEndedElsewhere = false
    /// Whether the session requests no data yet.
    var isHeld: Bool

    /// Whether the process has certainly ended.
    var hasEnded: Bool { hasEndedElsewhere || process?.hasEnded ?? false }
  }

  private let address: ProcessAddress
  private let isReadOnly: Bool
  private let interval: Duration
  private let mostBytes: Int
  private let wake: @Sendable () -> Void
  private let state: Mutex<State>
  private let loop: any EventLoop
  private let connecting: NIOLoopBoundBox<Connecting>
  /// A promise for the first greeting. It fails if the process cannot be watched.
  private let greeting: EventLoopPromise<Hello>

  /// Connects to a process.
  ///
  /// - Parameters:
  ///   - address: The place of the process.
  ///   - isReadOnly: Whether this viewer sends no commands.
  ///   - interest: The data that the viewer requests.
  ///   - interval: The shortest time between two updates.
  ///   - mostBytes: The maximum memory for the process's operations, as ``OperationLedger`` counts
  ///     it.
  ///   - isHeld: Whether the session requests no data before the call of ``start()``. A process that
  ///     waits for this viewer waits until then.
  ///   - wake: A closure that the session calls when messages are available. The session calls it
  ///     on any thread, and calls it again only after the viewer has received the messages.
  package init(
    _ address: ProcessAddress, isReadOnly: Bool, interest: Interest = Interest(),
    interval: Duration = RemoteSession.usualInterval, mostBytes: Int = OperationLedger.mostBytes,
    isHeld: Bool = false, wake: @escaping @Sendable () -> Void
  ) {
    self.address = address
    self.isReadOnly = isReadOnly
    self.interval = interval
    self.mostBytes = mostBytes
    self.wake = wake
    loop = ConnectionLoop.shared
    state = Mutex(State(mailbox: Mailbox(interest: interest)))
    connecting = NIOLoopBoundBox.makeBoxSendingValue(Connecting(isHeld: isHeld), eventLoop: loop)
    greeting = loop.makePromise()
    loop.execute { self.connect() }
  }

  /// Calls a closure on some thread with the first greeting or the error.
  package func whenGreeted(_ body: @escaping @Sendable (Result<Hello, AttachError>) -> Void) {
    greeting.futureResult.whenComplete { result in
      body(result.mapError { $0 as? AttachError ?? AttachError(.lost, "\($0)") })
    }
  }

  // MARK: Called by the viewer

  /// Makes a held session request data. For another session, the method does nothing.
  package func start() {
    loop.execute {
      guard self.connecting.value.isHeld else { return }
      self.connecting.value.isHeld = false
      if self.openConnection != nil { self.requestData() }
    }
  }

  package func takeMessages() -> [MonitorMessage] {
    let (messages, credit) = state.withLock { state in
      let credit = state.mailbox.updateCount - state.oldUpdateCount
      state.oldUpdateCount = 0
      return (state.mailbox.takeMessages(), credit)
    }
    if credit > 0 { loop.execute { self.openConnection?.grant(credit) } }
    return messages
  }

  package func watch(_ interest: Interest) {
    state.withLock { $0.mailbox.interest = interest }
    loop.execute { self.openConnection?.watch(interest, interval: self.interval) }
  }

  package func send(_ command: MonitorCommand) {
    loop.execute {
      if let connection = self.openConnection {
        connection.send(command)
      } else {
        self.post(.commandResult(CommandResult(lost: command)))
      }
    }
  }

  package func invalidate() {
    guard state.withLock({ $0.mailbox.invalidate() }) else { return }
    loop.execute {
      self.connecting.value.connection?.close()
      self.connecting.value.connection = nil
      self.greeting.fail(AttachError(.lost, "the viewer is closing the connection"))
    }
  }

  package var loss: (any Error)? { state.withLock { $0.loss } }

  private var isInvalid: Bool { state.withLock { $0.mailbox.isInvalid } }

  // MARK: On the loop

  private var openConnection: ProcessConnection? {
    connecting.value.reconnection.isOpen ? connecting.value.connection : nil
  }

  private func connect() {
    guard !isInvalid else { return }
    let connection = ProcessConnection(
      address, isReadOnly: isReadOnly, ledger: OperationLedger(limit: mostBytes),
      deliver: { [self] in take($0) }, receive: { [self] in take($0) })
    connecting.value.connection = connection
    connection.open(on: loop)
  }

  private func take(_ message: MonitorMessage) {
    if case .update = message { connecting.value.reconnection.noteUpdate(at: .now) }
    post(message)
    if case .ended = message { perform(connecting.value.reconnection.end()) }
  }

  private func take(_ event: ProcessConnection.Event) {
    switch event {
    case .greeted(var hello, let versions):
      hello.host = address.host
      connecting.value.process = LocalProcess(hello)
      perform(connecting.value.reconnection.greet(hello, versions: versions))
      greeting.succeed(hello)
    case .heard:
      perform(connecting.value.silence?.hear(at: .now) ?? [])
    case .closed(let end):
      connecting.value.connection = nil
      connecting.value.silence = nil
      connecting.value.hasEndedElsewhere = end.hasProcessEnded
      let hasEnded = connecting.value.hasEnded
      perform(connecting.value.reconnection.lose(end.error, hasEnded: hasEnded, at: .now))
    }
  }

  private func perform(_ actions: [Reconnection.Action]) {
    for action in actions {
      switch action {
      case .post(let message): post(message)
      case .open: begin()
      case .refuse(let error): greeting.fail(error)
      case .lose(let error):
        state.withLock { $0.loss = error }
        post(.ended(reason: error.description))
      case .retry(let delay):
        loop.scheduleTask(in: TimeAmount(delay)) { [self] in
          let hasEnded = connecting.value.hasEnded
          let actions = connecting.value.reconnection.wakeUp(hasEnded: hasEnded)
          if actions.isEmpty { connect() } else { perform(actions) }
        }
      case .stop:
        connecting.value.connection?.close()
        connecting.value.connection = nil
        connecting.value.silence = nil
      }
    }
  }

  private func begin() {
    if !connecting.value.isHeld { requestData() }
    connecting.value.silence = Silence(at: .now)
    if let connection = connecting.value.connection {
      lookLater(NIOLoopBound(connection, eventLoop: loop))
    }
  }

  private func requestData() {
    let interest = state.withLock { state in
      state.oldUpdateCount = state.mailbox.updateCount
      return state.mailbox.interest
    }
    let connection = connecting.value.connection
    connection?.watch(interest, interval: interval)
    connection?.grant(Self.credit)
  }

  /// Repeatedly checks whether the process answers, until this connection ends.
  private func lookLater(_ connection: NIOLoopBound<ProcessConnection>) {
    guard let moment = connecting.value.silence?.nextLook else { return }
    loop.scheduleTask(in: TimeAmount(moment - .now)) { [self] in
      guard connecting.value.connection === connection.value else { return }
      let actions = connecting.value.silence?.look(at: .now) ?? []
      let isSilent = actions.contains { if case .post = $0 { true } else { false } }
      // A child of an ended process may keep the connection open. Therefore the session ends the
      // connection if the process is silent and has ended.
      if isSilent, connecting.value.hasEnded {
        return connection.value.expire()
      }
      perform(actions)
      lookLater(connection)
    }
  }

  private func perform(_ actions: [Silence.Action]) {
    for action in actions {
      switch action {
      case .ping: openConnection?.ping()
      case .post(let message): post(message)
      }
    }
  }

  private func post(_ message: MonitorMessage) {
    if state.withLock({ $0.mailbox.post(message) }) { wake() }
  }
}
