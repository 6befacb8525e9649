// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Operations
import TestSupport
import Testing

@testable import MonitorTransport
@testable import OperationsMonitor

/// Tests of the number of viewers that may send commands, with real connections.
@Suite("The number of controlling viewers", .timeLimit(.minutes(5)))
struct ControllerCountTests {
  private let runtime: TemporaryDirectory
  private let log = LogLines()
  private let controllers = ControllerCount()

  init() throws { runtime = try TemporaryDirectory() }

  private func listen(_ mode: OperationMonitor.Mode = .readWrite) throws -> Listener {
    try Listener(
      mode: mode, logger: log.logger, in: MonitorPlaces(runtimePath: runtime.path),
      controllers: controllers)
  }

  /// Connects a viewer, which requests data if `watches` is `true`, and waits until the process has handled this.
  private func connect(
    to listener: Listener, isReadOnly: Bool = false, watches: Bool = true
  ) throws -> WireClient {
    let client = try #require(WireClient(path: listener.path))
    #expect(client.greet(isReadOnly: isReadOnly).isGreeting)
    if watches { client.send(.watch(Interest(rowLimit: 0), interval: .milliseconds(10))) }
    client.send(.ping(1))
    #expect(client.receive { $0 == .pong(1) ? true : nil } == true)
    return client
  }

  /// Returns a log of the present count and of each later count.
  private func watchCounts() -> EventLog<Int> {
    let log = EventLog<Int>()
    let counts = controllers.counts()
    Task { for await count in counts { log.note(count) } }
    return log
  }

  @Test("RD-3: A viewer counts after it has requested data, until it has disconnected")
  func viewers() async throws {
    let listener = try listen()
    defer { listener.stop() }
    let seen = watchCounts()
    try await onOwnThread {
      let first = try connect(to: listener)
      let second = try connect(to: listener)
      seen.wait(forCount: 3)
      first.close()
      seen.wait(forCount: 4)
      second.send(.bye(reason: "quit"))
      seen.wait(forCount: 5)
      #expect(seen.events == [0, 1, 2, 1, 0])
    }
  }

  @Test("RD-3: A viewer of a process that accepts no commands counts too")
  func readOnlyProcess() async throws {
    let listener = try listen(.readOnly)
    defer { listener.stop() }
    let seen = watchCounts()
    try await onOwnThread {
      let client = try connect(to: listener)
      seen.wait(forCount: 2)
      #expect(seen.events == [0, 1])
      client.close()
    }
  }

  @Test("RD-3: Viewers that send no commands, and lists of processes, do not count")
  func others() async throws {
    let listener = try listen()
    defer { listener.stop() }
    let seen = watchCounts()
    try await onOwnThread {
      let recorder = try connect(to: listener, isReadOnly: true)
      let finder = try connect(to: listener, watches: false)
      let viewer = try connect(to: listener)
      viewer.close()
      seen.wait(forCount: 3)
      #expect(seen.events == [0, 1, 0])
      recorder.close()
      finder.close()
    }
  }

  @Test("RD-3: No viewer counts after the process has stopped listening")
  func stop() async throws {
    let listener = try listen()
    let seen = watchCounts()
    try await onOwnThread {
      let client = try connect(to: listener)
      seen.wait(forCount: 2)
      listener.stop()
      seen.wait(forCount: 3)
      #expect(seen.events == [0, 1, 0])
      client.close()
    }
  }

  @Test("RD-3: A sequence begins with the present count, and has each later count in order")
  func sequence() async {
    let counts = ControllerCount()
    counts.change(by: 1)
    let early = counts.counts()
    counts.change(by: 1)
    counts.change(by: -2)
    let late = counts.counts()
    counts.change(by: 1)
    var seen: [Int] = []
    for await count in early.prefix(4) { seen.append(count) }
    #expect(seen == [1, 2, 0, 1])
    seen = []
    for await count in late.prefix(2) { seen.append(count) }
    #expect(seen == [0, 1])
  }
}
