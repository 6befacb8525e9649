// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// The connection of a viewer to a monitored process. All methods must be called on the
/// connection's event loop.
final class ProcessConnection: TransportReceiver {
  /// An event of the connection.
  enum Event {
    /// The process has sent its greeting and can be watched.
    case greeted(Hello, versions: ProtocolVersions)
    /// Bytes have arrived from the process, possibly only a part of a message.
    case heard
    /// The connection has ended. No event follows this one.
    case closed(TransportEnd)
  }

  private let transport: any ProcessTransport
  private let isReadOnly: Bool
  private let patience: TimeAmount
  private let deliver: (MonitorMessage) -> Void
  private let receive: (Event) -> Void
  private var conversation: ProcessConversation
  private var isOver = false
  /// Whether messages that have arrived are being handled at this moment.
  private var isReading = false
  /// Ends the connection if the process does not send its greeting in time.
  private var expiry: Scheduled<Void>?

  /// Creates a connection that is not yet connected.
  ///
  /// - Parameters:
  ///   - address: The place of the process.
  ///   - isReadOnly: Whether the viewer sends no commands.
  ///   - patience: The maximum time for the process to send its greeting. The time begins when the viewer begins to
  ///     connect to the socket. For a process behind a relay, it begins after the greeting of the relay.
  ///   - ledger: Counts the memory for the process's operations.
  ///   - deliver: A closure that is called with each message of the process.
  ///   - receive: A closure that is called with each event of the connection.
  init(
    _ address: ProcessAddress, isReadOnly: Bool, patience: TimeAmount = .seconds(5),
    ledger: OperationLedger = OperationLedger(),
    deliver: @escaping (MonitorMessage) -> Void = { _ in }, receive: @escaping (Event) -> Void
  ) {
    conversation = ProcessConversation(ledger: ledger)
    transport =
      switch address {
      case .socket(let path): SocketTransport(path: path)
      case .relayed(let link, let number): RelayTransport(link, number: number)
      }
    self.isReadOnly = isReadOnly
    self.patience = patience
    self.deliver = deliver
    self.receive = receive
  }

  // MARK: Connecting

  /// Connects to the process. An event reports success or failure. This method must be called on
  /// the event loop.
  func open(on loop: any EventLoop) {
    transport.open(for: self, on: loop)
  }

  /// Ends the connection because the process has not answered in time.
  func expire() { end(TransportEnd(AttachError(.lost, "the process does not answer"))) }

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
    expiry?.cancel()
    send(.bye(reason: "the viewer is closing the connection"))
    // `send` does not flush while a message is handled.
    transport.flush()
    transport.close()
  }

  private func send(_ message: ViewerMessage) {
    transport.send(message.encoded())
    // If the process has ended, a flush fails. The channel then reads the remaining bytes and closes. If this
    // happened while a message is handled, the messages after it would be lost.
    if !isReading { transport.flush() }
  }

  private func end(_ end: TransportEnd) {
    guard !isOver else { return }
    perform(conversation.end())
    guard !isOver else { return }
    isOver = true
    expiry?.cancel()
    receive(.closed(end))
    transport.close()
  }

  // MARK: The transport

  func transportBeginsToConnect(on loop: any EventLoop) {
    let me = NIOLoopBound(self, eventLoop: loop)
    expiry = loop.scheduleTask(in: patience) { me.value.expire() }
  }

  func transportHasConnected() {
    guard !isOver else { return }
    send(.hello(ViewerHello(processID: csystem_process_id(), isReadOnly: isReadOnly)))
  }

  func transportHasReceived(_ message: ByteBuffer) {
    guard !isOver else { return }
    isReading = true
    do throws(WireError) {
      let message = try ProcessMessage(decoding: Array(message.readableBytesView))
      perform(conversation.take(message))
    } catch {
      end(TransportEnd(AttachError(.lost, "the process violates the protocol: \(error)")))
    }
  }

  func transportHasFinishedReading() {
    isReading = false
    transport.flush()
    if !isOver { receive(.heard) }
  }

  func transportHasEnded(_ end: TransportEnd) { self.end(end) }

  private func perform(_ actions: [ProcessConversation.Action]) {
    for action in actions where !isOver {
      switch action {
      case .greeted(let hello, let versions):
        expiry?.cancel()
        receive(.greeted(hello, versions: versions))
      case .deliver(let message): deliver(message)
      case .send(let message): send(message)
      case .fail(let error): end(TransportEnd(error))
      }
    }
  }
}

/// The event loop of all connections of this program. It has its own thread.
enum ConnectionLoop {
  /// The event loop, which is created at its first use.
  static let shared: any EventLoop = ConnectionThread.makeGroup(named: "opq-connection").next()
}
