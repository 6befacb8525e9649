// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorTestSupport
import NIOCore
import TestSupport
import Testing

@testable import MonitorClient
@testable import MonitorProtocol

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of connections to processes that end.
@Suite(.timeLimit(.minutes(5))) struct ConnectionEndTests {
  /// The number of parts of the last update.
  private static let partCount = 3

  private static let hello = ProcessMessage.hello(
    Hello(
      processName: "ending", processID: getpid(), isReadOnly: false,
      anchor: MonitorTime(nanoseconds: 0), anchorSecondsSince1970: 0,
      processStarted: MonitorTime(nanoseconds: 0)), versions: .current)

  /// Returns the parts of the last update, and the farewell.
  private static func lastMessages() -> [UInt8] {
    let parts = (1...partCount).map { number in
      var content = Update(time: MonitorTime(nanoseconds: 1))
      content.changed = [
        OperationReport(
          id: .init(UInt64(number)), name: "job", className: "Block", queue: .init(1),
          state: .finished)
      ]
      return ProcessMessage.updatePart(
        UpdatePart(content: content, isFirst: number == 1, isLast: number == partCount))
    }
    let farewell = ProcessMessage.bye(Farewell(cause: .processEnds, reason: "the process exits"))
    return (parts + [farewell]).flatMap { LocalListener.frame($0.encoded()) }
  }

  /// Sends the last messages on a connection that receives nothing more, and closes it.
  private static func serve(_ connection: Int32) {
    defer { close(connection) }
    LocalListener.write(LocalListener.frame(hello.encoded()), to: connection)
    // The first three messages of the viewer are its greeting, interest and credit.
    LocalListener.discardFrames(3, from: connection)
    // From now on, the viewer cannot send, as after the end of the process.
    shutdown(connection, Int32(SHUT_RD))
    LocalListener.write(lastMessages(), to: connection)
  }

  @Test("All messages that a process sent before its end arrive, although the viewer cannot answer")
  func lastMessagesArrive() throws {
    let listener = try LocalListener()
    startThread { Self.serve(listener.accept()) }
    let received = EventLog<MonitorMessage>()
    let isClosed = Gate()
    let (loop, path) = (ConnectionLoop.shared, listener.path)
    loop.execute {
      var connection: ProcessConnection?
      connection = ProcessConnection(
        .socket(path), isReadOnly: true, deliver: { received.note($0) },
        receive: { event in
          switch event {
          case .greeted:
            connection?.watch(Interest(), interval: .milliseconds(10))
            connection?.grant(Self.partCount)
          case .heard: break
          case .closed:
            connection = nil
            isClosed.open()
          }
        })
      connection?.open(on: loop)
    }
    #expect(isClosed.waitUntilOpen())
    let messages = received.events
    #expect(messages.count == 2)
    guard case .update(let update) = messages.first else {
      Issue.record("no update: \(messages)")
      return
    }
    #expect(update.changed.count == Self.partCount)
    #expect(messages.last == .ended(reason: "the process exits"))
  }
}
