// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import OperationsCore
import TestSupport

/// A viewer that sends arbitrary bytes, as no real viewer would.
///
/// It never sleeps: it waits in `poll` with a deadline.
final class WireClient {
  /// The received message, or the reason for a missing message.
  enum Answer: Equatable {
    case message(ProcessMessage)
    /// The other side has closed the connection.
    case closed
    /// No message was received in time.
    case nothing

    /// Whether the answer admits the viewer.
    var isGreeting: Bool { if case .message(.hello) = self { true } else { false } }

    /// Whether commands will be refused; `nil` if the viewer is not admitted.
    var isReadOnly: Bool? {
      if case .message(.hello(let hello, _)) = self { hello.isReadOnly } else { nil }
    }

    /// Why the connection ends; `nil` if the answer does not end it.
    var farewell: Farewell? {
      if case .message(.bye(let farewell)) = self { farewell } else { nil }
    }
  }

  private var descriptor: Int32
  private var buffer = FrameBuffer()
  /// The number of bytes received so far.
  private(set) var receivedByteCount = 0

  /// Connects; `nil` if no process listens.
  init?(path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result != 0 {
      Glibc.close(descriptor)
      return nil
    }
  }

  deinit { close() }

  /// Closes the connection without a farewell.
  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Sends a message in a valid frame.
  @discardableResult
  func send(_ message: ViewerMessage) -> Bool { send(frame: message.encoded()) }

  /// Sends a frame of these bytes.
  @discardableResult
  func send(frame: [UInt8]) -> Bool {
    send(bytes: withUnsafeBytes(of: UInt32(frame.count).littleEndian, Array.init) + frame)
  }

  /// Sends these bytes unchanged; returns whether the other side has accepted them.
  @discardableResult
  func send(bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Greets as a viewer does, and receives the greeting.
  func greet(versions: ProtocolVersions = .current, isReadOnly: Bool = false) -> Answer {
    send(.hello(ViewerHello(versions: versions, processID: getpid(), isReadOnly: isReadOnly)))
    return receive()
  }

  /// Returns the next message.
  func receive(within limit: Duration = .seconds(30)) -> Answer {
    let deadline = ContinuousClock.now + limit
    while true {
      if let frame = buffer.takeFrame() {
        do {
          return .message(try ProcessMessage(decoding: frame))
        } catch {
          return .closed
        }
      }
      let left = max(.zero, deadline - .now)
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(left / .milliseconds(1))) > 0 else { return .nothing }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return .closed }
      receivedByteCount += count
      buffer.append(bytes[..<count])
    }
  }

  /// Returns the next message that `pick` accepts; other messages are skipped.
  func receive<Value>(_ pick: (ProcessMessage) -> Value?) -> Value? {
    while case .message(let message) = receive() {
      if let value = pick(message) { return value }
    }
    return nil
  }

  /// Returns the result of the command with this token; other messages are skipped.
  func result(
    of token: UInt32
  ) -> (outcomes: [CommandResult.Outcome], dependents: [OperationReport.ID])? {
    receive { message in
      if case .commandResult(token, let outcomes, let dependents) = message {
        (outcomes, dependents)
      } else {
        nil
      }
    }
  }

  /// Receives updates, giving credit for each part, until one meets the condition.
  func receiveUpdate(where holds: (Update) -> Bool) -> Update? {
    var assembler = UpdateAssembler()
    return receive { message in
      guard case .updatePart(let part) = message else { return nil }
      self.send(.credit(1))
      guard let update = try? assembler.take(part), holds(update) else { return nil }
      return update
    }
  }
}

extension OperationReport.ID {
  /// Creates the id with which an operation is reported.
  init(_ operation: Operation) { self.init(operation.id.rawValue) }
}
