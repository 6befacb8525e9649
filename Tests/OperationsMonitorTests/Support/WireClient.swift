// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A viewer for tests. It can send arbitrary bytes, which a real viewer would not send.
///
/// The functions that wait use `poll` with a deadline, and never sleep.
final class WireClient {
  /// A message that was received, or the reason that none was received.
  enum Answer: Equatable {
    case message(ProcessMessage)
    /// The other side has closed the connection.
    case closed
    /// No message was received in time.
    case nothing

    /// Whether the message is a greeting, which means that the process admits the viewer.
    var isGreeting: Bool { if case .message(.hello) = self { true } else { false } }

    /// Whether the process will refuse commands of the viewer; `nil` if the message is no greeting.
    var isReadOnly: Bool? {
      if case .message(.hello(let hello, _)) = self { hello.isReadOnly } else { nil }
    }

    /// The farewell with the reason for the end of the connection; `nil` if the message is no
    /// farewell.
    var farewell: Farewell? {
      if case .message(.bye(let farewell)) = self { farewell } else { nil }
    }
  }

  private var descriptor: Int32
  private var buffer = FrameBuffer()
  /// The number of bytes received so far.
  private(set) var receivedByteCount = 0

  /// Connects to the process that listens on a socket; `nil` if no process listens.
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

  /// Sends a frame: the number of bytes, and then the bytes.
  @discardableResult
  func send(frame: [UInt8]) -> Bool {
    send(bytes: withUnsafeBytes(of: UInt32(frame.count).littleEndian, Array.init) + frame)
  }

  /// Sends bytes without a frame. Returns whether the other side has accepted all of them.
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

  /// Sends a viewer's greeting, and returns the answer.
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

  /// Receives messages until `pick` returns a value for one of them, and returns the value. Other
  /// messages are skipped.
  func receive<Value>(_ pick: (ProcessMessage) -> Value?) -> Value? {
    while case .message(let message) = receive() {
      if let value = pick(message) { return value }
    }
    return nil
  }

  /// Receives messages until the result of the command with this token arrives, and returns the
  /// result. Other messages are skipped.
  func result(
    of token: UInt32
  ) -> (
    outcomes: [CommandResult.Outcome], dependents: [OperationReport.ID], refusals: [Int: String]
  )? {
    receive { message in
      if case .commandResult(token, let outcomes, let dependents, let refusals) = message {
        (outcomes, dependents, refusals)
      } else {
        nil
      }
    }
  }

  /// Receives updates until one satisfies the condition, and returns this update. Each received
  /// part grants one new credit.
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
  /// Creates the id that reports to viewers use for an operation of this process.
  init(_ operation: Operation) { self.init(operation.id.rawValue) }
}
