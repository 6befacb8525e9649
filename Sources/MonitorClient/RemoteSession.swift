// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix
import Synchronization

/// A process that is watched over a socket.
///
/// A lost connection is made anew for as long as the process may be there. Updates that the viewer has
/// not taken are bounded: the process is given credit only for those that it has.
package final class RemoteSession: MonitorSource {
  /// How long a process may take to greet.
  static let patience = TimeAmount.seconds(5)
  /// The time between updates at most: four a second.
  package static let usualInterval = Duration.milliseconds(250)
  /// How many parts of updates may be on their way.
  private static let credit = 8

  /// What is waiting for the viewer.
  private struct State {
    var mailbox: Mailbox
    /// How many of the updates in it came over a connection that is lost, and cost no credit.
    var oldUpdateCount = 0
  }

  /// What only the loop uses.
  private struct Connecting {
    var connection: ProcessConnection?
    var reconnection = Reconnection()
    /// Whether the process is heard; `nil` where there is no connection.
    var silence: Silence?
    /// The process, where it is visible on this machine.
    var process: LocalProcess?
  }

  private let path: String
  private let isReadOnly: Bool
  private let interval: Duration
  private let mostBytes: Int
  private let wake: @Sendable () -> Void
  private let state: Mutex<State>
  private let loop: any EventLoop
  private let connecting: NIOLoopBoundBox<Connecting>
  /// Completed with the first greeting, or with why there is none.
  private let greeting: EventLoopPromise<Hello>

  /// Connects.
  ///
  /// - Parameters:
  ///   - path: Where the socket is.
  ///   - isReadOnly: Whether this viewer gives no commands.
  ///   - interest: What it wants to be told of.
  ///   - interval: The shortest time between two updates.
  ///   - mostBytes: How much of the process's operations may be held, as ``OperationLedger`` counts it.
  ///   - wake: Called on any thread when messages are waiting, once until they are taken.
  package init(
    path: String, isReadOnly: Bool, interest: Interest = Interest(),
    interval: Duration = RemoteSession.usualInterval, mostBytes: Int = OperationLedger.mostBytes,
    wake: @escaping @Sendable () -> Void
  ) {
    self.path = path
    self.isReadOnly = isReadOnly
    self.interval = interval
    self.mostBytes = mostBytes
    self.wake = wake
    loop = ConnectionLoop.shared
    state = Mutex(State(mailbox: Mailbox(interest: interest)))
    connecting = NIOLoopBoundBox.makeBoxSendingValue(Connecting(), eventLoop: loop)
    greeting = loop.makePromise()
    loop.execute { self.connect() }
  }

  /// Tells on some thread whether the process has greeted.
  package func whenGreeted(_ body: @escaping @Sendable (Result<Hello, AttachError>) -> Void) {
    greeting.futureResult.whenComplete { result in
      body(result.mapError { $0 as? AttachError ?? AttachError(.lost, "\($0)") })
    }
  }

  // MARK: The viewer's side

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
      self.greeting.fail(AttachError(.lost, "given up"))
    }
  }

  private var isInvalid: Bool { state.withLock { $0.mailbox.isInvalid } }

  // MARK: On the loop

  private var openConnection: ProcessConnection? {
    connecting.value.reconnection.isOpen ? connecting.value.connection : nil
  }

  private func connect() {
    guard !isInvalid else { return }
    let connection = ProcessConnection(
      path: path, isReadOnly: isReadOnly, ledger: OperationLedger(limit: mostBytes)
    ) { [self] in take($0) }
    connecting.value.connection = connection
    connection.open(on: loop)
    let attempt = NIOLoopBound(connection, eventLoop: loop)
    loop.scheduleTask(in: Self.patience) { [self] in
      let isCurrent = connecting.value.connection === attempt.value
      if isCurrent, openConnection == nil { attempt.value.expire() }
    }
  }

  private func take(_ event: ProcessConnection.Event) {
    switch event {
    case .greeted(let hello, _):
      connecting.value.process = LocalProcess(hello)
      perform(connecting.value.reconnection.greet(hello))
      greeting.succeed(hello)
    case .message(.ended(let reason)):
      post(.ended(reason: reason))
      perform(connecting.value.reconnection.end())
    case .message(let message):
      if case .update = message { connecting.value.reconnection.noteUpdate() }
      post(message)
    case .heard:
      perform(connecting.value.silence?.hear(at: .now) ?? [])
    case .closed(let error):
      connecting.value.connection = nil
      connecting.value.silence = nil
      let hasEnded = connecting.value.process?.hasEnded ?? false
      perform(connecting.value.reconnection.lose(error, hasEnded: hasEnded))
    }
  }

  private func perform(_ actions: [Reconnection.Action]) {
    for action in actions {
      switch action {
      case .post(let message): post(message)
      case .open: begin()
      case .refuse(let error): greeting.fail(error)
      case .retry(let delay):
        loop.scheduleTask(in: TimeAmount(delay)) { [self] in
          let hasEnded = connecting.value.process?.hasEnded ?? false
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
    let interest = state.withLock { state in
      state.oldUpdateCount = state.mailbox.updateCount
      return state.mailbox.interest
    }
    let connection = connecting.value.connection
    connection?.watch(interest, interval: interval)
    connection?.grant(Self.credit)
    connecting.value.silence = Silence(at: .now)
    if let connection { lookLater(NIOLoopBound(connection, eventLoop: loop)) }
  }

  /// Looks whether the process is heard, for as long as there is this connection.
  private func lookLater(_ connection: NIOLoopBound<ProcessConnection>) {
    guard let moment = connecting.value.silence?.nextLook else { return }
    loop.scheduleTask(in: TimeAmount(moment - .now)) { [self] in
      guard connecting.value.connection === connection.value else { return }
      let actions = connecting.value.silence?.look(at: .now) ?? []
      let isSilent = actions.contains { if case .post = $0 { true } else { false } }
      // A child of a process that has ended may hold its connection.
      if isSilent, connecting.value.process?.hasEnded == true {
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
