// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import MonitorClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A relay in this process, and the other ends of its pipes. A test can write and read any bytes.
///
/// The functions that wait use `poll` with a deadline, and never sleep.
final class PipedRelay: Sendable {
  /// The file to write to the relay.
  private let input: Int32
  /// The file to read from the relay.
  private let output: Int32
  private let buffer = Monitored(FrameBuffer())
  private let isInputClosed = Monitored(false)
  /// The way in which the relay has ended.
  let ending = EventLog<Relay.Ending>()

  /// Starts a relay.
  init(patience: Duration = Relay.patience, find: @escaping @Sendable () -> [RelayTarget]?) {
    let (input, output) = (Self.makePipe(), Self.makePipe())
    self.input = input.write
    self.output = output.read
    let ending = ending
    startThread {
      let relay = Relay(input: input.read, output: output.write, patience: patience, find: find)
      ending.note(relay.run())
    }
  }

  deinit {
    closeInput()
    close(output)
  }

  private static func makePipe() -> (read: Int32, write: Int32) {
    var files: [Int32] = [0, 0]
    precondition(pipe(&files) == 0)
    for file in files { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    return (files[0], files[1])
  }

  /// Closes the input of the relay. A second call does nothing.
  func closeInput() {
    let isFirst = isInputClosed.change { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    if isFirst { close(input) }
  }

  /// Writes bytes to the relay.
  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends requests to the relay.
  func send(_ requests: RelayRequest...) {
    for request in requests {
      let message = request.encoded()
      write(withUnsafeBytes(of: UInt32(message.count).littleEndian, Array.init) + message)
    }
  }

  /// Reads bytes from the relay. The result is empty if the relay has closed its output, or if no bytes arrive within
  /// 60 s.
  private func read(atMost most: Int = 1 << 16) -> [UInt8] {
    var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 60_000) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: most)
    let count = Glibc.read(output, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : []
  }

  /// Reads the preamble of the relay.
  func readPreamble() -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < RelayPreamble.bytes.count {
      let more = read(atMost: RelayPreamble.bytes.count - bytes.count)
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  /// Waits for the next answer of the relay; `nil` if the relay closes its output, if no bytes arrive within 60 s, or
  /// if the answer is invalid.
  func receive() -> RelayAnswer? {
    while true {
      if let frame = buffer.change({ $0.takeFrame() }) { return try? RelayAnswer(decoding: frame) }
      let bytes = read()
      if bytes.isEmpty { return nil }
      buffer.change { $0.append(bytes) }
    }
  }

  /// Reads the preamble, sends the greeting of the viewer, and returns the targets of the relay.
  func greet() throws -> [RelayTarget] {
    try #require(readPreamble() == RelayPreamble.bytes)
    send(.hello(.current))
    guard case .greeting(let targets, .current) = receive() else {
      Issue.record("no greeting")
      return []
    }
    return targets
  }
}
