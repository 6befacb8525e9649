// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOCore
import NIOPosix
import OperationsMonitor
import Synchronization

/// A process that is watched over a socket.
///
/// A lost connection is made anew for as long as the process may be there. Updates that the viewer has
/// not taken are bounded: the process is given credit only for those that it has.
final class RemoteSession: MonitorSource {
  /// How long a process may take to greet.
  static let patience = TimeAmount.seconds(5)
  /// The time between updates at most: four a second.
  static let usualInterval = Duration.milliseconds(250)
  /// How many parts of updates may be on their way.
  private static let credit = 8

  /// What is waiting for the viewer.
  private struct Mailbox {
    var messages: [MonitorMessage] = []
    /// The credit of the updates among them.
    var credit = 0
    var isWoken = false
    var isInvalid = false
    var interest: Interest
  }

  /// What only the loop uses.
  private struct Connecting {
    var connection: ProcessConnection?
    var identity: ProcessIdentity?
    var reconnection = Reconnection()
    /// Whether the process may be watched at present.
    var isOpen = false
  }

  private static let group = ConnectionThread.makeGroup(named: "opq-connection")

  private let path: String
  private let isReadOnly: Bool
  private let interval: Duration
  private let wake: @Sendable () -> Void
  private let mailbox: Mutex<Mailbox>
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
  ///   - wake: Called on any thread when messages are waiting, once until they are taken.
  init(
    path: String, isReadOnly: Bool, interest: Interest = Interest(),
    interval: Duration = RemoteSession.usualInterval, wake: @escaping @Sendable () -> Void
  ) {
    self.path = path
    self.isReadOnly = isReadOnly
    self.interval = interval
    self.wake = wake
    loop = Self.group.next()
    mailbox = Mutex(Mailbox(interest: interest))
    connecting = NIOLoopBoundBox.makeBoxSendingValue(Connecting(), eventLoop: loop)
    greeting = loop.makePromise()
    loop.execute { self.connect() }
  }

  /// Waits until the process has greeted.
  ///
  /// - Throws: ``AttachError`` where it does not.
  func waitForGreeting() throws(AttachError) -> Hello {
    do {
      return try greeting.futureResult.wait()
    } catch {
      throw error as? AttachError ?? AttachError(.lost, "\(error)")
    }
  }

  /// Tells on some thread whether the process has greeted.
  func whenGreeted(_ body: @escaping @Sendable (Result<Hello, AttachError>) -> Void) {
    greeting.futureResult.whenComplete { result in
      body(result.mapError { $0 as? AttachError ?? AttachError(.lost, "\($0)") })
    }
  }

  // MARK: The viewer's side

  func takeMessages() -> [MonitorMessage] {
    let (messages, credit) = mailbox.withLock { mailbox in
      defer {
        mailbox.messages = []
        mailbox.credit = 0
        mailbox.isWoken = false
      }
      return (mailbox.messages, mailbox.credit)
    }
    if credit > 0 { loop.execute { self.openConnection?.grant(credit) } }
    return messages
  }

  func watch(_ interest: Interest) {
    mailbox.withLock { $0.interest = interest }
    loop.execute { self.openConnection?.watch(interest, interval: self.interval) }
  }

  func send(_ command: MonitorCommand) {
    loop.execute { self.openConnection?.send(command) }
  }

  func invalidate() {
    let isFirst = mailbox.withLock { mailbox in
      defer { mailbox.isInvalid = true }
      return !mailbox.isInvalid
    }
    guard isFirst else { return }
    loop.execute {
      self.connecting.value.connection?.close()
      self.connecting.value.connection = nil
      self.greeting.fail(AttachError(.lost, "given up"))
    }
  }

  private var isInvalid: Bool { mailbox.withLock { $0.isInvalid } }

  // MARK: On the loop

  private var openConnection: ProcessConnection? {
    connecting.value.isOpen ? connecting.value.connection : nil
  }

  private func connect() {
    guard !isInvalid else { return }
    let connection = ProcessConnection(isReadOnly: isReadOnly) { [self] in take($0) }
    connecting.value.connection = connection
    connection.open(path, on: loop)
    let attempt = NIOLoopBound(connection, eventLoop: loop)
    loop.scheduleTask(in: Self.patience) { [self] in
      let current = connecting.value
      if current.connection === attempt.value, !current.isOpen { attempt.value.expire() }
    }
  }

  private func take(_ event: ProcessConnection.Event) {
    switch event {
    case .greeted(let hello, _): begin(hello)
    case .message(let message):
      post(message)
      if case .ended = message { stop() }
    case .closed(let error): lose(error)
    }
  }

  private func begin(_ hello: Hello) {
    let identity = ProcessIdentity(hello)
    if let known = connecting.value.identity, known != identity {
      return end("another process is there now")
    }
    connecting.value.identity = identity
    connecting.value.isOpen = true
    connecting.value.reconnection.succeed()
    let interest = mailbox.withLock { mailbox in
      // What was told over the connection before costs nothing any more.
      mailbox.credit = 0
      return mailbox.interest
    }
    post(.hello(hello))
    connecting.value.connection?.watch(interest, interval: interval)
    connecting.value.connection?.grant(Self.credit)
    greeting.succeed(hello)
  }

  private func lose(_ error: AttachError) {
    let wasOpen = connecting.value.isOpen
    connecting.value.isOpen = false
    connecting.value.connection = nil
    guard let identity = connecting.value.identity else { return greeting.fail(error) }
    // A process that ends closes its socket a little before it is gone.
    if identity.hasEnded { return end("the process has exited") }
    if error.kind == .versionMismatch || error.kind == .denied { return end(error.description) }
    if wasOpen { post(.disconnected(reason: error.description)) }
    let delay = connecting.value.reconnection.delay()
    loop.scheduleTask(in: TimeAmount(delay)) { [self] in
      if identity.hasEnded { end("the process has exited") } else { connect() }
    }
  }

  private func end(_ reason: String) {
    post(.ended(reason: reason))
    stop()
  }

  private func stop() {
    connecting.value.connection?.close()
    connecting.value.connection = nil
    connecting.value.isOpen = false
  }

  private func post(_ message: MonitorMessage) {
    let mustWake = mailbox.withLock { mailbox in
      guard !mailbox.isInvalid else { return false }
      mailbox.messages.append(message)
      if case .update = message { mailbox.credit += 1 }
      defer { mailbox.isWoken = true }
      return !mailbox.isWoken
    }
    if mustWake { wake() }
  }
}
