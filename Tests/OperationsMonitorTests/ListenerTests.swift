// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOCore
import NIOPosix
import Operations
import TestSupport
import Testing

@testable import MonitorTransport
@testable import OperationsCollector
@testable import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of a listener in this process, with real connections.
@Suite struct ListenerTests {
  private let runtime: TemporaryDirectory
  private let log = LogLines()

  init() throws { runtime = try TemporaryDirectory() }

  private func listen(_ mode: OperationMonitor.Mode = .readWrite) throws -> Listener {
    try Listener(mode: mode, logger: log.logger, in: MonitorPlaces(runtimePath: runtime.path))
  }

  /// Returns whether a viewer is admitted within 30 s. The listener may need some time to notice
  /// that other viewers have disconnected.
  private func isLetIn(at path: String) -> Bool { guest(at: path) != nil }

  /// Tries to connect until a viewer is admitted, and returns the viewer; `nil` after 30 s.
  private func guest(at path: String) -> WireClient? {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
      if let client = WireClient(path: path), client.greet().isGreeting { return client }
    }
    return nil
  }

  @Test(
    "A viewer gets a greeting and updates, and its cancellation is performed and logged")
  func watchesAndCancels() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      operation.name = "to be cancelled"
      queue.addOperation(operation)
      let id = OperationReport.ID(operation)

      let client = try #require(WireClient(path: listener.path))
      guard case .message(.hello(let hello, let versions)) = client.greet() else {
        Issue.record("no greeting")
        return
      }
      #expect(hello.processID == getpid())
      #expect(!hello.isReadOnly)
      #expect(hello.totalCount > 0)
      #expect(versions == .current)
      client.send(.watch(Interest(operations: [id]), interval: .milliseconds(10)))
      client.send(.credit(4))
      let update = client.receiveUpdate { update in update.changed.contains { $0.id == id } }
      #expect(update?.changed.first { $0.id == id }?.name == "to be cancelled")

      client.send(.command(.cancel([id, .init(.max)]), token: 42))
      let outcomes = client.result(of: 42)?.outcomes
      #expect(outcomes == [.requested, .unknown])
      #expect(operation.isCancelled)
      let reported = client.receiveUpdate { update in
        update.changed.contains { $0.id == id && $0.cancelRequester != nil }
      }
      #expect(
        reported?.changed.first { $0.id == id }?.cancelRequester
          == CommandOrigin(processID: getpid(), userID: geteuid()))
      log.wait { $0.contains("cancel \(id), ") }
      let line = log.lines.first { $0.contains("cancel \(id), ") }
      #expect(line?.contains("pid=\(getpid())") == true)
      #expect(line?.contains("uid=\(geteuid())") == true)
      #expect(line?.contains("requested 1, unknown 1") == true)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A command is logged even if its viewer has left at once")
  func writesDownCommandsOfThoseWhoHaveGone() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      let client = try #require(WireClient(path: listener.path))
      #expect(client.greet().isGreeting)
      client.send(.command(.setSuspended(.init(queue.id.rawValue), true), token: 1))
      client.close()
      log.wait { $0.hasPrefix("suspend OperationQueue \(queue.id.rawValue) ") }
      #expect(queue.isSuspended)
    }
  }

  @Test("A server's own event loop may start to listen, and stop")
  func listensOnAnotherEventLoop() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let path = try await group.next().submit {
      let listener = try self.listen()
      listener.stop()
      return listener.path
    }.get()
    #expect(WireClient(path: path) == nil)
    try await group.shutdownGracefully()
  }

  @Test("Cancelling with dependents cancels these too, and names them")
  func cancelsWithDependents() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operations = (0..<3).map { _ in BlockOperation {} }
      operations[1].addDependency(operations[0])
      operations[2].addDependency(operations[1])
      queue.addOperations(operations, waitUntilFinished: false)
      let ids = operations.map { OperationReport.ID($0) }
      let client = try #require(WireClient(path: listener.path))
      #expect(client.greet().isGreeting)
      client.send(.watch(Interest(operations: Set(ids)), interval: .milliseconds(10)))
      client.send(.credit(4))
      var known: Set<OperationReport.ID> = []
      _ = client.receiveUpdate { update in
        known.formUnion(update.changed.map(\.id))
        return known.isSuperset(of: ids)
      }
      client.send(.command(.cancelWithDependents([ids[0]]), token: 1))
      let result = client.result(of: 1)
      #expect(result?.outcomes == [.requested])
      #expect(result?.dependents == [ids[1], ids[2]])
      #expect(operations.allSatisfy { $0.isCancelled })
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "A read-only viewer is denied each command: by the process, or by its own declaration",
    arguments: [
      (OperationMonitor.Mode.readOnly, false), (.readWrite, true),
    ])
  func readOnly(_ mode: OperationMonitor.Mode, _ isViewerReadOnly: Bool) async throws {
    let listener = try listen(mode)
    defer { listener.stop() }
    try await onOwnThread {
      let client = try #require(WireClient(path: listener.path))
      #expect(client.greet(isReadOnly: isViewerReadOnly).isGreeting)
      let queue = OperationQueue()
      client.send(.command(.setSuspended(.init(queue.id.rawValue), true), token: 3))
      let outcomes = client.result(of: 3)?.outcomes
      #expect(outcomes == [.denied])
      #expect(!queue.isSuspended)
      log.wait { $0.contains("denied 1") }
    }
  }

  @Test(
    "Another major version, invalid bytes and a message that is too long are refused in a sentence")
  func refusals() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let other = try #require(WireClient(path: listener.path))
      let answer = other.greet(versions: ProtocolVersions(major: 9, minor: 1))
      #expect(answer.farewell?.cause == .versionMismatch)
      #expect(other.receive() == .closed)

      let nonsense = try #require(WireClient(path: listener.path))
      nonsense.send(frame: [0xFF, 0xFF, 0xFF])
      #expect(nonsense.receive().farewell?.cause == .malformedMessage)
      #expect(nonsense.receive() == .closed)

      let long = try #require(WireClient(path: listener.path))
      long.send(bytes: [0xFF, 0xFF, 0xFF, 0x7F])
      let chunk = [UInt8](repeating: 0, count: 65_536)
      for _ in 0..<20 where !long.send(bytes: chunk) { break }
      // The viewer may not receive the farewell: the system discards it if the process closes the
      // connection with unread data.
      let end = long.receive()
      #expect(end.farewell?.cause == .malformedMessage || end == .closed)
      #expect(log.lines.contains { $0.contains("refused a viewer") })
    }
  }

  @Test("Eight viewers are admitted, and a ninth when one of them has left")
  func guestList() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      var clients: [WireClient] = []
      for _ in 0..<GuestList.limit {
        let client = try #require(WireClient(path: listener.path))
        #expect(client.greet().isGreeting)
        clients.append(client)
      }
      let ninth = try #require(WireClient(path: listener.path))
      #expect(ninth.receive().farewell?.cause == .tooManyViewers)
      clients.removeFirst().close()
      #expect(isLetIn(at: listener.path))
    }
  }

  @Test("A viewer that gives no credit gets no update, but the results of its commands")
  func noCredit() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let client = try #require(WireClient(path: listener.path))
      #expect(client.greet().isGreeting)
      client.send(.watch(Interest(), interval: .milliseconds(10)))
      let queue = OperationQueue()
      for number in 0..<200 {
        queue.addOperation {}
        client.send(.command(.setWidth(.init(queue.id.rawValue), 2), token: UInt32(number)))
      }
      for number in 0..<200 {
        let answer = client.receive()
        #expect(
          answer
            == .message(
              .commandResult(token: UInt32(number), outcomes: [.requested], dependents: [])))
      }
      client.send(.credit(1))
      guard case .message(.updatePart) = client.receive() else {
        Issue.record("no update after the credit")
        return
      }
      // The viewer has granted one credit, so it receives only one part of the update.
      client.send(.ping(1))
      #expect(client.receive() == .message(.pong(1)))
    }
  }

  @Test("A viewer that was behind gets a report for how long")
  func behind() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let client = try #require(WireClient(path: listener.path))
      #expect(client.greet().isGreeting)
      client.send(.watch(Interest(), interval: .milliseconds(10)))
      let queue = OperationQueue()
      // Another viewer receives each change. This proves that there were updates which the first
      // viewer could not receive.
      let other = try #require(WireClient(path: listener.path))
      #expect(other.greet().isGreeting)
      other.send(.watch(Interest(), interval: .milliseconds(10)))
      other.send(.credit(8))
      for count in 1...4 {
        queue.addOperation {}
        _ = other.receiveUpdate { update in
          update.queues.contains {
            $0.id.rawValue == queue.id.rawValue && $0.counts.total >= count
          }
        }
      }
      client.send(.credit(8))
      let update = client.receiveUpdate { $0.behind > .zero }
      #expect(update != nil)
    }
  }

  @Test("The end is reported, and then no process listens; stopping twice is harmless")
  func stops() async throws {
    let listener = try listen()
    try await onOwnThread {
      let client = try #require(WireClient(path: listener.path))
      #expect(client.greet().isGreeting)
      listener.stop()
      #expect(client.receive().farewell?.cause == .processEnds)
      #expect(client.receive() == .closed)
      #expect(WireClient(path: listener.path) == nil)
      listener.stop()
    }
  }

  @Test("When stopping returns, each viewer has its farewell, because the process may end at once")
  func farewellsComeInTime() async throws {
    for _ in 0..<Effort.scaled(50) {
      let listener = try listen()
      try await onOwnThread {
        let clients = try (0..<GuestList.limit).map { _ in
          try #require(WireClient(path: listener.path))
        }
        for client in clients { #expect(client.greet().isGreeting) }
        listener.stop()
        for client in clients {
          #expect(client.receive(within: .zero).farewell?.cause == .processEnds)
        }
      }
    }
  }

  @Test("Viewers that connect and disconnect leave no descriptor and no thread")
  func comesAndGoes() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let path = listener.path
      func connectOnce(_ step: Int) throws {
        let client = try #require(WireClient(path: path))
        // Some viewers disconnect immediately, some disconnect during the greeting, and some
        // disconnect after the greeting.
        if step % 3 == 0 { return }
        if step % 3 == 1 {
          client.send(bytes: [1, 0])
          return
        }
        guard client.greet().isGreeting else { return }
        client.send(.watch(.everything, interval: .milliseconds(10)))
        client.send(.credit(1))
        _ = client.receive()
      }
      for step in 0..<30 { try connectOnce(step) }
      let before = try #require(ProcessStatus.descriptorCount(of: getpid()))
      for step in 0..<Effort.scaled(10_000) { try connectOnce(step) }
      // Another thread closes the last file descriptors, so the test waits. The limit has a margin,
      // because other tests open and close descriptors too.
      let deadline = ContinuousClock.now + .seconds(30)
      var after = Int.max
      while after > before + 8, ContinuousClock.now < deadline {
        sched_yield()
        after = try #require(ProcessStatus.descriptorCount(of: getpid()))
      }
      #expect(after <= before + 8)
    }
  }

  @Test("Damaged and random frames are refused or accepted, and never cause a crash")
  func fuzz() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
      let corpus: [ViewerMessage] = [
        .hello(ViewerHello(processID: 1, isReadOnly: false)),
        .watch(Interest(operations: [.init(1)]), interval: .seconds(1)),
        .watch(.everything, interval: .milliseconds(10)),
        .command(.setWidth(.init(.max), 3), token: 1), .credit(3), .ping(9), .bye(reason: "x"),
      ]
      var greeted = (wanted: 0, letIn: 0)
      for _ in 0..<Effort.scaled(1_000) {
        var client = try #require(WireClient(path: listener.path))
        if Bool.random(using: &random) {
          greeted.wanted += 1
          if let guest = guest(at: listener.path) {
            client = guest
            greeted.letIn += 1
          }
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          var frame = corpus.randomElement(using: &random)?.encoded() ?? []
          for _ in 0..<Int.random(in: 0...3, using: &random) where !frame.isEmpty {
            frame[Int.random(in: 0..<frame.count, using: &random)] = .random(
              in: 0...255, using: &random)
          }
          if !client.send(frame: frame) { break }
        }
        if Bool.random(using: &random) { client.send(bytes: [0xFF]) }
      }
      // Every viewer that has sent a correct greeting was admitted, whatever the other viewers did.
      #expect(greeted.letIn == greeted.wanted && greeted.letIn > 0)
      #expect(isLetIn(at: listener.path))
    }
  }
}
