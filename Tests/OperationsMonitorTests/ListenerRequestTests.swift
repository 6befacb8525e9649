// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOCore
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

/// Tests of the requests that viewers send to a listener over a real socket.
@Suite struct ListenerRequestTests {
  private let runtime: TemporaryDirectory
  private let log = LogLines()

  init() throws { runtime = try TemporaryDirectory() }

  private func listen(patience: TimeAmount = ViewerConnection.patience) throws -> Listener {
    try Listener(
      mode: .readWrite, logger: log.logger, in: MonitorPlaces(runtimePath: runtime.path),
      patience: patience)
  }

  /// Connects a client to a listener, and returns the client after the listener has admitted it.
  private func connect(to listener: Listener) throws -> WireClient {
    let client = try #require(WireClient(path: listener.path))
    #expect(client.greet().isGreeting)
    return client
  }

  @Test(
    "A part of the graph is reported in either direction, up to the requested limit, and nothing else"
  )
  func graph() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let chain = (0..<6).map { _ in BlockOperation {} }
      for (first, second) in zip(chain, chain.dropFirst()) { second.addDependency(first) }
      queue.addOperations(chain + [BlockOperation {}], waitUntilFinished: false)
      let ids = chain.map { OperationReport.ID($0) }
      let client = try connect(to: listener)
      client.send(.credit(8))
      func reported(_ direction: GraphDirection, _ limit: Int) -> Set<OperationReport.ID>? {
        let graph = Interest.Graph(root: ids[3], direction: direction, limit: limit)
        client.send(.watch(Interest(rowLimit: 0, graphs: [graph]), interval: .milliseconds(10)))
        let wanted =
          direction == .waitsFor ? Set(ids[...3].suffix(limit)) : Set(ids[3...].prefix(limit))
        var known: Set<OperationReport.ID> = []
        _ = client.receiveUpdate { update in
          known.subtract(update.removed)
          known.formUnion(update.changed.map(\.id))
          return known == wanted
        }
        // An interest without a dependency graph makes the listener remove all operations, so that
        // the next interest begins with an empty graph.
        client.send(.watch(Interest(rowLimit: 0), interval: .milliseconds(10)))
        _ = client.receiveUpdate { Set($0.removed) == known }
        return known
      }
      #expect(reported(.waitsFor, 100) == Set(ids[...3]))
      #expect(reported(.waitsFor, 2) == Set(ids[2...3]))
      #expect(reported(.blocks, 100) == Set(ids[3...]))
      #expect(reported(.blocks, 1) == [ids[3]])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A priority is raised and lowered, up to the last level")
  func priority() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      let id = OperationReport.ID(operation)
      let client = try connect(to: listener)
      client.send(.watch(Interest(operations: [id]), interval: .milliseconds(10)))
      client.send(.credit(4))
      #expect(client.receiveUpdate { $0.changed.contains { $0.id == id } } != nil)
      for (step, expected) in [
        (1, Operation.QueuePriority.high), (4, .veryHigh), (-3, .low), (-4, .veryLow),
      ] {
        client.send(.command(.changePriority([id, .init(.max)], by: step), token: 9))
        #expect(client.result(of: 9)?.outcomes == [.requested, .unknown])
        #expect(operation.queuePriority == expected)
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "The requester is reported even if the operation was cancelled before, and nothing changes"
  )
  func reportsSecondCancellations() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let operation = BlockOperation { gate.pass() }
      queue.addOperation(operation)
      gate.waitForArrivals(1)
      operation.cancel()
      let id = OperationReport.ID(operation)
      let client = try connect(to: listener)
      client.send(
        .watch(Interest(rowLimit: 0, operations: [id]), interval: .milliseconds(10)))
      client.send(.credit(8))
      #expect(
        client.receiveUpdate { update in
          update.changed.contains { $0.id == id && $0.state == .cancelling }
        } != nil)
      client.send(.command(.cancel([id]), token: 1))
      #expect(client.result(of: 1)?.outcomes == [.requested])
      let reported = client.receiveUpdate { update in
        update.changed.contains { $0.id == id && $0.cancelRequester?.processID == getpid() }
      }
      #expect(reported != nil)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "Each viewer gets updates at its own interval: a viewer with an interval of a day gets none")
  func intervals() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let quick = try connect(to: listener)
      let slow = try connect(to: listener)
      quick.send(.watch(Interest(), interval: .milliseconds(10)))
      slow.send(.watch(Interest(), interval: WireLimits.longestInterval))
      for client in [quick, slow] { client.send(.credit(WireLimits.mostCredit)) }
      let queue = OperationQueue()
      func seesChange(_ number: Int) -> Bool {
        queue.addOperation {}
        return quick.receiveUpdate { update in
          update.queues.contains {
            $0.id.rawValue == queue.id.rawValue && $0.counts.total >= number
          }
        } != nil
      }
      #expect(slow.receiveUpdate { _ in true } != nil)
      for number in 1...10 { #expect(seesChange(number)) }
      slow.send(.ping(1))
      var count = 0
      var assembler = UpdateAssembler()
      let isAnswered = slow.receive { message -> Bool? in
        if case .updatePart(let part) = message, (try? assembler.take(part)) != nil { count += 1 }
        return message == .pong(1) ? true : nil
      }
      #expect(isAnswered == true)
      // The viewer with the long interval receives at most one update here: the update that its
      // session sends when the list of operations is complete.
      #expect(count <= 1)
      // If the viewer with the long interval sends another interest, it receives an update without
      // delay.
      slow.send(.watch(Interest(), interval: .milliseconds(10)))
      #expect(
        slow.receiveUpdate { update in
          update.queues.contains {
            $0.id.rawValue == queue.id.rawValue && $0.counts.total >= 10
          }
        } != nil)
    }
  }

  @Test("A viewer without a hello in time is refused, and a viewer that sent one stays")
  func helloTimeout() async throws {
    let listener = try listen(patience: .milliseconds(200))
    defer { listener.stop() }
    try await onOwnThread {
      let silent = try #require(WireClient(path: listener.path))
      let halting = try #require(WireClient(path: listener.path))
      halting.send(bytes: [9, 0])
      // This viewer is admitted before the time limit for the greeting, so it is not disconnected.
      let guest = try #require(
        (0..<1_000).lazy.compactMap { _ in
          WireClient(path: listener.path).flatMap { $0.greet().isGreeting ? $0 : nil }
        }.first)
      for client in [silent, halting] {
        let farewell = client.receive().farewell
        #expect(farewell?.cause == .malformedMessage)
        #expect(farewell?.reason == "the protocol's greeting was not received in time")
        #expect(client.receive() == .closed)
      }
      log.wait { $0.contains("the protocol's greeting was not received in time") }
      let late = try #require(WireClient(path: listener.path))
      #expect(late.receive().farewell?.reason == "the protocol's greeting was not received in time")
      guest.send(.ping(3))
      #expect(guest.receive() == .message(.pong(3)))
    }
  }

  @Test(
    "Cancelling with dependents cancels all of them, and names as many as fit")
  func cancelsAllDependents() async throws {
    let listener = try listen()
    defer { listener.stop() }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let first = BlockOperation {}
      let dependents = (0..<(WireLimits.mostDependentsOfResult + 10_000)).map { _ in Operation() }
      // Every tenth operation depends on the first operation through another operation. The other
      // operations depend on it directly.
      for (index, dependent) in dependents.enumerated() {
        dependent.addDependency(index % 10 == 9 ? dependents[index - 1] : first)
      }
      queue.addOperations([first] + dependents, waitUntilFinished: false)
      let client = try connect(to: listener)
      client.send(.watch(Interest(operations: [.init(first)]), interval: .milliseconds(10)))
      client.send(.credit(4))
      let isKnown = client.receiveUpdate { update in
        update.queues.contains {
          $0.id.rawValue == queue.id.rawValue && $0.counts.total == dependents.count + 1
        } && update.keptCount > dependents.count
      }
      #expect(isKnown != nil)
      client.send(.command(.cancelWithDependents([.init(first)]), token: 1))
      let result = client.result(of: 1)
      #expect(result?.outcomes == [.requested])
      #expect(result?.dependents.count == WireLimits.mostDependentsOfResult)
      #expect(dependents.count { $0.isCancelled } == dependents.count)
      #expect(first.isCancelled)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}
