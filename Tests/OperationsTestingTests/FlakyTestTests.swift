// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import OperationsTesting
import Synchronization
import Testing

/// The code of the page "Making a flaky test deterministic".
@Suite("The guide about a flaky test")
struct FlakyTestTests {
  final class Report: Sendable {
    private let prices = Atomic<Int>(0)
    private let printed = Atomic<Int>(-1)

    var printedTotal: Int { printed.load(ordering: .relaxed) }

    init(on queue: OperationQueue, isCorrect: Bool) {
      let load = BlockOperation { self.prices.store(42, ordering: .relaxed) }
      let print = BlockOperation {
        self.printed.store(self.prices.load(ordering: .relaxed), ordering: .relaxed)
      }
      if isCorrect { print.addDependency(load) }
      queue.addOperations([load, print])
    }
  }

  @Test("Some seeds find the missing dependency, always the same ones")
  func findsTheFault() {
    func failingSeeds() -> [UInt64] {
      (0..<20 as Range<UInt64>).filter { seed in
        let queue = SteppedOperationQueue()
        let report = Report(on: queue, isCorrect: false)
        queue.runAll(order: .seeded(seed))
        return report.printedTotal != 42
      }
    }
    let seeds = failingSeeds()
    #expect(!seeds.isEmpty && seeds.count < 20)
    #expect(failingSeeds() == seeds)
  }

  @Test("The corrected report is complete with every seed", arguments: 0..<20 as Range<UInt64>)
  func isCorrect(seed: UInt64) {
    let queue = SteppedOperationQueue()
    let report = Report(on: queue, isCorrect: true)
    queue.runAll(order: .seeded(seed))
    #expect(report.printedTotal == 42)
  }
}
