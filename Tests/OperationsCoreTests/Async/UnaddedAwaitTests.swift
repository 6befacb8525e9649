// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Waits for operations that are not in a queue")
struct UnaddedAwaitTests {
  @Test(
    "WA-6: a wait for an operation that is not in a queue is reported after one second"
  )
  func reportedInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<OperationDiagnostic>()
      OperationDiagnostic.handler = { log.note($0) }
      let queue = OperationQueue()
      let first = queue.addAsyncOperation(name: "first") { 1 }
      let never = first.then(name: "never") { $0 + 1 }
      let (late, gate) = (first.then(name: "late") { $0 + 2 }, AsyncGate())
      let waiting = Task { try await never.value }
      // Two other waits are not reported, because their operations are in a queue.
      let held = queue.addAsyncOperation(name: "held") { await gate.pass() }
      queue.addOperation(late)
      let others = [Task { try await held.value }, Task { _ = try await late.value }]
      log.wait(forCount: 1)
      #expect(log.events.first?.kind == .awaitsOperationInNoQueue)
      #expect(log.events.first?.description.contains("never") == true)
      #expect(UnaddedAwait.operations == [never])
      #expect(QueueRegistry.deadlocks.first?.description.hasPrefix("a task waits for") == true)
      queue.addOperation(never)
      #expect(try await waiting.value == 2)
      gate.open()
      for other in others { try await other.value }
      #expect(UnaddedAwait.operations.isEmpty && log.events.count == 1)
      OperationDiagnostic.handler = nil
    }
  }

  @Test("A cancelled wait is not reported")
  func cancelled() async throws {
    let never = AsyncOperation { 1 }
    let waiting = Task { await never.waitUntilFinished() }
    waiting.cancel()
    #expect(await !waiting.value)
    #expect(!UnaddedAwait.operations.contains(never))
  }
}
