// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCollector
import TestSupport
import Testing

@testable import MonitorProtocol
@testable import MonitorTransport
@testable import OperationsMonitor

/// Tests of a process that retries jobs. A process has only one handler, so each test runs in a separate
/// process.
@Suite("The command that retries jobs") struct RetryTests {
  @Test("RD-5: The command of a viewer reaches the handler, and the viewer receives the reasons")
  func commandInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      JobRetry.setHandler { names in
        names.map { $0 == "fetch" ? .accepted : .refused("\($0) runs") }
      }
      let path = try OperationMonitor.listen(mode: .readWrite, logger: LogLines().logger)
      #expect(runtime.sockets == [path])
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      operation.name = "merge"
      queue.addOperation(operation)
      let id = OperationReport.ID(operation)
      let client = try #require(WireClient(path: path))
      #expect(client.greet().isGreeting)
      client.send(.watch(Interest(operations: [id]), interval: .milliseconds(10)))
      client.send(.credit(4))
      #expect(client.receiveUpdate { $0.changed.contains { $0.id == id } } != nil)
      client.send(.command(.retry([id, .init(.max)], names: ["fetch"]), token: 7))
      let result = client.result(of: 7)
      #expect(result?.outcomes == [.notRetryable, .unknown, .requested])
      #expect(result?.refusals == [0: "merge runs"])
      OperationMonitor.stopListening()
    }
  }

  @Test("RD-3, RD-5: The greeting has the name of the run, and that it can retry jobs")
  func greetingInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      ProcessFacts.setName("run jobs.yaml")
      JobRetry.setHandler { names in names.map { _ in .accepted } }
      let path = try OperationMonitor.listen(mode: .readWrite, logger: LogLines().logger)
      #expect(runtime.sockets == [path])
      let client = try #require(WireClient(path: path))
      guard case .message(.hello(let hello, let versions)) = client.greet() else {
        Issue.record("no greeting")
        return
      }
      #expect(hello.processName == "run jobs.yaml")
      #expect(hello.canRetry && versions.knowsRetry)
      OperationMonitor.stopListening()
    }
  }

  @Test("RD-3: The count of viewers continues when the process stops to listen and listens again")
  func countInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let seen = EventLog<Int>()
      let counts = OperationMonitor.controllerCounts()
      Task { for await count in counts { seen.note(count) } }
      for round in 1...2 {
        let path = try OperationMonitor.listen(logger: LogLines().logger)
        #expect(runtime.sockets == [path])
        let client = try #require(WireClient(path: path))
        #expect(client.greet().isGreeting)
        client.send(.watch(Interest(rowLimit: 0), interval: .milliseconds(10)))
        seen.wait(forCount: 2 * round)
        OperationMonitor.stopListening()
        seen.wait(forCount: 2 * round + 1)
      }
      #expect(seen.events == [0, 1, 0, 1, 0])
    }
  }
}
