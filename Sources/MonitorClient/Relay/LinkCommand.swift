// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import Dispatch
import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// The command of a link, which runs a relay at another place. All methods must be called on the event loop.
final class LinkCommand {
  /// An event of the command.
  enum Event {
    /// The preamble is complete.
    case preamble
    /// The command has written text instead of the preamble.
    case text
    /// A message has arrived.
    case message(ByteBuffer)
    /// Bytes have arrived, and an event has reported each complete message in them.
    case heard
    /// Bytes have arrived that cannot be a message.
    case fault(String)
    /// The command does not read its input. Messages are no longer sent.
    case stalled
    /// The command has ended. No event follows.
    case ended(RelayEnd)
  }

  /// The maximum number of bytes that wait because the command does not read. If more bytes wait, no message is sent.
  private static let longestBacklog = WireLimits.maximumMessageSize

  private let loop: any EventLoop
  private let process: Int32
  /// The receiver of the events; `nil` if the command was abandoned or its end was reported.
  private var receive: ((Event) -> Void)?
  /// A closure that is called once, when the process has ended. It is called even if the command was abandoned.
  var whenExited: (() -> Void)?
  /// The channel to the standard input; `nil` before it exists and after its end.
  private var input: (any Channel)?
  private var output: (any Channel)?
  private var errors: (any Channel)?
  private var preamble: RelayPreambleHandler?
  private var tail: StreamTail?
  private var end = LinkCommandEnd()
  private var status: Int32?
  private var isStopped = false
  private var isStalled = false
  private var timer: Scheduled<Void>?

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - words: The words of the command.
  ///   - loop: The event loop, on which the initializer is called.
  ///   - receive: A closure that is called with each event, after the initializer has returned.
  /// - Throws: ``AttachError`` if the command cannot be started.
  init(
    _ words: [String], on loop: any EventLoop, receive: @escaping (Event) -> Void
  ) throws(AttachError) {
    var (process, pipes) = (Int32(0), cmonitor_pipes())
    let arguments = words.flatMap { word -> [CChar] in Array(word.utf8CString) }
    let error = arguments.withUnsafeBufferPointer { arguments in
      cmonitor_start_piped_program(
        cmonitor_texts(bytes: arguments.baseAddress, count: words.count), &process, &pipes)
    }
    guard error == 0 else {
      throw RelayFailure.cannotStart(
        words.first ?? "", String(cString: cmonitor_error_text(error)))
    }
    self.loop = loop
    self.process = process
    self.receive = receive
    open(pipes)
    awaitEnd()
  }

  /// The first line of the text that has arrived instead of the preamble; empty if no text has arrived.
  var text: String { preamble?.text ?? "" }

  // MARK: Sending

  /// Sends a message when ``flush()`` is called next.
  func send(_ message: [UInt8]) {
    guard let input, !isStalled else { return }
    let backlog = (try? input.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    guard backlog <= Self.longestBacklog else {
      isStalled = true
      let me = NIOLoopBound(self, eventLoop: loop)
      // The caller may be handling another event. Therefore this event is reported later.
      return loop.execute { me.value.receive?(.stalled) }
    }
    input.write(MessageFraming.framed(message, allocator: input.allocator), promise: nil)
  }

  /// Sends the messages that were not sent yet.
  func flush() { input?.flush() }

  // MARK: Ending

  /// Closes the standard input of the command, and kills the command if it has not ended after a grace period. A second
  /// call does nothing.
  func stop() {
    guard !isStopped else { return }
    closeInput()
    perform(end.stop())
  }

  /// Ends the command as ``stop()`` does, with a shorter grace period, and reports no further events.
  ///
  /// - Parameter kills: Whether the command is killed at once.
  func abandon(kills: Bool) {
    receive = nil
    if kills { kill() }
    closeInput()
    perform(end.abandon())
  }

  private func closeInput() {
    isStopped = true
    input?.close(promise: nil)
    input = nil
  }

  private func kill() {
    // Until the exit status of a process is read, no other process gets its id. The process is the leader of a process
    // group, which also contains the programs that it has started.
    if !end.hasExited { cmonitor_send_signal(-process, cmonitor_signal_kill) }
  }

  private func awaitEnd() {
    let process = process
    let me = NIOLoopBound(self, eventLoop: loop)
    DispatchQueue(label: "opq-relay").async { [loop] in
      cmonitor_wait_for_end(process)
      loop.execute { me.value.takeEnding() }
    }
  }

  private func takeEnding() {
    var (status, signal) = (Int32(0), Int32(0))
    let isKnown = cmonitor_take_ending(process, &status, &signal)
    if isKnown, signal == 0 { self.status = status }
    perform(end.exit())
    whenExited?()
    whenExited = nil
  }

  private func perform(_ actions: [LinkCommandEnd.Action]) {
    for action in actions {
      switch action {
      case .wait(let number, let grace):
        let me = NIOLoopBound(self, eventLoop: loop)
        timer?.cancel()
        timer = loop.scheduleTask(in: TimeAmount(grace)) {
          me.value.perform(me.value.end.expire(number))
        }
      case .kill: kill()
      case .report: report()
      }
    }
  }

  private func report() {
    timer?.cancel()
    timer = nil
    closeInput()
    output?.close(promise: nil)
    errors?.close(promise: nil)
    let receive = receive
    self.receive = nil
    receive?(.ended(RelayEnd(status: status, errors: tail?.bytes ?? [], text: text)))
  }

  // MARK: The pipes

  private func open(_ pipes: cmonitor_pipes) {
    let me = NIOLoopBound(self, eventLoop: loop)
    // The output is read only after the input can be written.
    CommandPipe.open(output: pipes.input, on: loop) { _ in }.whenComplete { result in
      me.value.openInput(result)
      me.value.openOutput(pipes.output)
      me.value.openErrors(pipes.errors)
    }
  }

  private func openInput(_ channel: Result<any Channel, any Error>) {
    guard case .success(let channel) = channel else { return }
    if isStopped { return channel.close(promise: nil) }
    input = channel
    let me = NIOLoopBound(self, eventLoop: loop)
    channel.closeFuture.whenComplete { _ in me.value.input = nil }
  }

  // A handler does not keep the command, because the command keeps its handlers. Otherwise neither would be released.

  private func openOutput(_ file: Int32) {
    let preamble = RelayPreambleHandler { [weak self] verdict in
      self?.receive?(verdict == .text ? .text : .preamble)
    }
    let messages = RelayMessageHandler { [weak self] event in self?.take(event) }
    self.preamble = preamble
    let me = NIOLoopBound(self, eventLoop: loop)
    let channel = CommandPipe.open(input: file, on: loop) { channel in
      try channel.pipeline.syncOperations.addHandler(preamble)
      try MessageFraming.add(limit: WireLimits.maximumEnvelopeSize, before: messages, in: channel)
    }
    channel.whenComplete { result in
      switch result {
      case .success(let channel) where !me.value.end.hasOutputEnded: me.value.output = channel
      case .success: break
      case .failure: me.value.perform(me.value.end.endOutput())
      }
    }
  }

  private func take(_ event: RelayMessageHandler.Event) {
    switch event {
    case .message(let message): receive?(.message(message))
    case .heard: receive?(.heard)
    case .fault(let reason): receive?(.fault(reason))
    case .closed:
      output = nil
      perform(end.endOutput())
    }
  }

  private func openErrors(_ file: Int32) {
    let tail = StreamTail { [weak self] in
      guard let self else { return }
      errors = nil
      perform(end.endErrors())
    }
    self.tail = tail
    let me = NIOLoopBound(self, eventLoop: loop)
    let channel = CommandPipe.open(input: file, on: loop) { channel in
      try channel.pipeline.syncOperations.addHandler(tail)
    }
    channel.whenComplete { result in
      switch result {
      case .success(let channel): if channel.isActive { me.value.errors = channel }
      case .failure: me.value.perform(me.value.end.endErrors())
      }
    }
  }
}
