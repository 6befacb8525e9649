// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import MonitorClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of a relay over pipes. The relay connects to sockets of this process instead of monitored processes.
@Suite("A relay", .timeLimit(.minutes(5)), .onOwnThread) struct RelayTests {
  /// Reads a frame from a socket.
  private func readFrame(_ connection: Int32) -> [UInt8] {
    var length = UInt32(0)
    guard recv(connection, &length, 4, Int32(MSG_WAITALL)) == 4 else { return [] }
    // A call of `recv` that requests no bytes would wait for further bytes.
    guard length > 0 else { return [] }
    var message = [UInt8](repeating: 0, count: Int(UInt32(littleEndian: length)))
    let count = recv(connection, &message, message.count, Int32(MSG_WAITALL))
    return count == message.count ? message : []
  }

  @Test("Messages are forwarded in both directions with the same bytes, for two processes")
  func forwarding() throws {
    let listeners = [try LocalListener(), try LocalListener()]
    let targets = listeners.map { RelayTarget(path: $0.path) }
    let relay = PipedRelay { targets }
    #expect(try relay.greet() == targets)
    // The bytes are not messages of the protocol. The relay does not decode them.
    let messages: [[UInt8]] = [[255, 0, 1], [], Array(repeating: 7, count: 1 << 20)]
    relay.send(.open(connection: 1, target: 1), .open(connection: 2, target: 2))
    let connections = listeners.map { $0.accept() }
    defer { for connection in connections { close(connection) } }
    for (connection, number) in zip(connections, [1, 2] as [UInt32]) {
      for bytes in messages {
        let message = RelayedMessage(connection: number, bytes: bytes)
        startThread { LocalListener.write(LocalListener.frame(bytes), to: connection) }
        #expect(relay.receive() == .message(message))
        startThread { relay.send(.message(message)) }
        #expect(readFrame(connection) == bytes)
      }
    }
  }

  @Test("The end of a connection is reported, and a later one fails because there is no socket")
  func ends() throws {
    let directory = try TemporaryDirectory()
    let listener = try LocalListener()
    // No process can have an id of 2,000,000,000 or more.
    let path = directory.file("2000000000-1.sock")
    symlink(listener.path, path)
    let relay = PipedRelay { [RelayTarget(path: path)] }
    #expect(try relay.greet() == [RelayTarget(processID: 2_000_000_000, path: path)])
    relay.send(.open(connection: 1, target: 1))
    close(listener.accept())
    #expect(
      relay.receive()
        == .end(
          connection: 1,
          RelayRefusal(.lost, "the process has closed the connection", hasProcessEnded: true)))
    unlink(path)
    relay.send(.open(connection: 2, target: 1))
    #expect(
      relay.receive()
        == .end(
          connection: 2,
          RelayRefusal(.nothingThere, "there is no socket at \(path)", hasProcessEnded: true)))
  }

  @Test("Pings are answered while the relay awaits a process")
  func waiting() throws {
    let isThere = Monitored(false)
    let relay = PipedRelay { isThere.value ? [] : nil }
    #expect(relay.readPreamble() == RelayPreamble.bytes)
    relay.send(.hello(.current), .ping(3))
    #expect(relay.receive() == .pong(3))
    isThere.change { $0 = true }
    #expect(relay.receive() == .greeting([], versions: .current))
  }

  @Test("The relay ends when its input ends, and closes its connections")
  func inputEnds() throws {
    let listener = try LocalListener()
    let target = RelayTarget(path: listener.path)
    let relay = PipedRelay { [target] }
    _ = try relay.greet()
    relay.send(.open(connection: 1, target: 1))
    let connection = listener.accept()
    defer { close(connection) }
    relay.closeInput()
    #expect(relay.ending.wait(for: .inputEnded))
    #expect(readFrame(connection) == [])
  }

  @Test("A relay that receives nothing sends a farewell, ends, and closes its connections")
  func silentViewer() throws {
    let listener = try LocalListener()
    let target = RelayTarget(path: listener.path)
    let relay = PipedRelay(patience: .seconds(2)) { [target] }
    _ = try relay.greet()
    relay.send(.open(connection: 1, target: 1))
    let connection = listener.accept()
    defer { close(connection) }
    // The input stays open, as it does if a network fails.
    guard case .bye(let farewell) = relay.receive() else {
      Issue.record("no farewell")
      return
    }
    #expect(farewell.reason == "the viewer sent nothing for 2 s")
    #expect(relay.ending.wait(for: .failed(farewell.reason)))
    #expect(readFrame(connection) == [])
  }

  @Test(
    "A malformed request ends the relay with a farewell",
    arguments: [[1, 0, 0, 0, 255], [255, 255, 255, 255], [2, 0, 0, 0, 0x28, 1]] as [[UInt8]])
  func malformed(_ bytes: [UInt8]) throws {
    let relay = PipedRelay { [] }
    #expect(relay.readPreamble() == RelayPreamble.bytes)
    relay.write(bytes)
    guard case .bye(let farewell) = relay.receive() else {
      Issue.record("no farewell")
      return
    }
    #expect(farewell.cause == .malformedMessage)
    #expect(relay.receive() == nil)
    #expect(relay.ending.wait(for: .failed(farewell.reason)))
  }

  @Test("A process can send only a limited number of bytes while the viewer does not read")
  func backpressure() throws {
    let listener = try LocalListener()
    let target = RelayTarget(path: listener.path)
    let relay = PipedRelay { [target] }
    _ = try relay.greet()
    relay.send(.open(connection: 1, target: 1))
    let connection = listener.accept()
    defer { close(connection) }
    _ = fcntl(connection, F_SETFL, O_NONBLOCK)
    let frame = LocalListener.frame(Array(repeating: 9, count: 64 << 10))
    var sentCount = 0
    var rest = frame[...]
    var entry = pollfd(fd: connection, events: Int16(POLLOUT), revents: 0)
    // The relay has stopped reading if the socket accepts nothing for a second.
    while sentCount < 64 << 20, poll(&entry, 1, 1_000) == 1 {
      let count = rest.withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { continue }
      sentCount += count
      rest = rest.dropFirst(count)
      if rest.isEmpty { rest = frame[...] }
    }
    #expect(sentCount < 16 << 20)
    // When the viewer reads again, it receives each complete message.
    for _ in 0..<sentCount / frame.count {
      guard case .message(let message) = relay.receive() else {
        Issue.record("no message")
        return
      }
      #expect(message.bytes.count == 64 << 10)
    }
  }

  @Test("A process that does not read its messages loses only its own connection")
  func backlog() throws {
    let listeners = [try LocalListener(), try LocalListener()]
    let targets = listeners.map { RelayTarget(path: $0.path) }
    let relay = PipedRelay { targets }
    _ = try relay.greet()
    relay.send(.open(connection: 1, target: 1), .open(connection: 2, target: 2))
    let connections = listeners.map { $0.accept() }
    defer { for connection in connections { close(connection) } }
    let large = RelayedMessage(connection: 1, bytes: Array(repeating: 1, count: 1 << 20))
    for _ in 1...5 { relay.send(.message(large)) }
    let refusal = RelayRefusal(
      .lost, "the process does not read its messages", hasProcessEnded: false)
    #expect(relay.receive() == .end(connection: 1, refusal))
    relay.send(.message(RelayedMessage(connection: 2, bytes: [5])))
    #expect(readFrame(connections[1]) == [5])
  }

  @Test("A process that does not listen or exist is awaited, and a target for it has a refusal")
  func awaitedTarget() throws {
    var own = AwaitedTarget(processID: getpid())
    #expect(own.find() == nil)
    var absent = AwaitedTarget(processID: 2_000_000_000)
    #expect(absent.find() == nil)
    #expect(absent.find() == nil)
    let target = RelayTarget(.process(2_000_000_000))
    #expect(target.refusal?.cause == .nothingThere)
    #expect(target.refusal?.hasProcessEnded == true)
  }
}
