// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import DemoWorkloads
import Testing

@Suite struct CatalogueTests {
  @Test func thereAreFiveDemos() {
    #expect(
      Demo.allCases.map(\.name) == ["tiles", "deadlock", "storm", "stubborn", "priorities"])
  }

  @Test("The description of a demo fits beside its name", arguments: Demo.allCases)
  func lengths(demo: Demo) {
    #expect(demo.summary.count <= 68 && demo.round.count <= 60)
    for line in [demo.summary, demo.guidance, demo.round] {
      #expect(!line.isEmpty && !line.contains("\n") && !line.hasSuffix("."), "\(line)")
    }
  }

  @Test("The guidance of a demo names a key and its effect", arguments: Demo.allCases)
  func guidance(demo: Demo) {
    let form = /[a-z][^.]{15,}\. Press (Tab twice|\S)[ ,].{8,}/
    #expect(demo.guidance.wholeMatch(of: form) != nil, "\(demo.guidance)")
    #expect(demo.guidance.count <= 76, "\(demo.guidance.count)")
  }

  @Test(arguments: Demo.allCases, [0, -1, .infinity, .nan] as [Double])
  func anInvalidSpeedIsRefused(demo: Demo, speed: Double) {
    let error = #expect(throws: WorkloadError.self) {
      try demo.makeWorkload(WorkloadOptions(speed: speed))
    }
    #expect(error?.description == "the speed must be a number above 0, not \(speed)")
  }

  @Test(arguments: Demo.allCases)
  func aWorkloadThatWasShutDownDoesNotStart(demo: Demo) async throws {
    let workload = try demo.makeWorkload(WorkloadOptions(isOnce: true))
    await confirmation(expectedCount: 0) { called in
      workload.whenFinished { called() }
      workload.shutDown()
      workload.start()
      workload.shutDown()
    }
    #expect(workload.failure == nil)
  }
}
