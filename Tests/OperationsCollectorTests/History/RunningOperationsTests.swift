// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCollector

@Suite("The running operations of all queues")
struct RunningOperationsTests {
  private typealias ID = OperationReport.ID

  @Test(
    "The first running operations of all queues and of each queue are those with the lowest ids")
  func prefixes() {
    var random = SeededGenerator(seed: 1)
    var running = RunningOperations()
    var model: [ID: QueueReport.ID] = [:]
    for step in 0..<4_000 {
      let id = ID(UInt64.random(in: 0..<1_000, using: &random))
      // An operation always belongs to the same queue.
      let queue = QueueReport.ID(id.rawValue % 7)
      if Bool.random(using: &random) {
        running.insert(
          OperationReport(id: id, name: "", className: "", queue: queue, state: .executing))
        model[id] = queue
      } else {
        running.remove(id)
        model[id] = nil
      }
      guard step.isMultiple(of: 100) else { continue }
      for limit in [0, 1, 50, .max] {
        #expect(running.prefix(limit) == Array(model.keys.sorted().prefix(limit)))
        let own = model.filter { $0.value == queue }.keys.sorted()
        #expect(running.prefix(limit, of: queue) == Array(own.prefix(limit)))
      }
      #expect(running.count == model.count)
    }
    for id in model.keys { running.remove(id) }
    running.keepQueues([])
    #expect(running.prefix(.max).isEmpty && running.prefix(1, of: .init(0)).isEmpty)
  }
}
