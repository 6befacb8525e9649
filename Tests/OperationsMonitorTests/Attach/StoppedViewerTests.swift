// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import Operations
import Synchronization
import TestSupport
import Testing

@testable import OperationsMonitor

/// A real viewer that is stopped while the process that it watches works. For a minute, where the
/// variable `OPQ_EFFORT` asks for all of it; a few seconds where it says nothing.
@Suite(.timeLimit(.minutes(5))) struct StoppedViewerTests {
  @Test(
    "A viewer that is stopped under load costs no operation and no memory, and then is up to date")
  func stopsInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread {
        let runtime = try TemporaryDirectory()
        let path = try Listener(
          mode: .readOnly, logger: nil, in: MonitorPlaces(runtimePath: runtime.path)
        ).path
        let viewer = try PseudoTerminal(columns: 120, rows: 30)
        try viewer.start(BuiltFolder.path(of: "opq-top"), ["--socket", path])
        #expect(viewer.wait { $0.isAlternate && $0.contains("total") })
        let load = Load()
        let seconds = getenv("OPQ_EFFORT") == nil ? 5 : max(1, Effort.scaled(60))
        // What the watching itself needs is there.
        viewer.absorb(for: .milliseconds(500))
        load.run(for: .seconds(1))
        viewer.absorb(for: .milliseconds(500))

        viewer.signal(SIGSTOP)
        let before = ProcessStatus.amount("VmRSS")
        let startCount = load.finishedCount
        load.run(for: .seconds(seconds))
        let after = ProcessStatus.amount("VmRSS")
        #expect(load.finishedCount == load.addedCount)
        #expect(load.finishedCount > startCount)
        // The changes alone would be far more; what is kept of finished operations has a limit.
        #expect(after - before < 100 * 1_024, "\(before) KiB, then \(after) KiB")

        viewer.signal(SIGCONT)
        viewer.forgetScreen()
        viewer.type("\u{C}")
        #expect(viewer.wait { $0.contains("LIVE") && $0.contains("total") })
        // Whoever asks is told of each of them.
        let client = try #require(WireClient(path: path))
        #expect(client.greet().isGreeting)
        client.send(.watch(Interest(), interval: .milliseconds(10)))
        client.send(.credit(8))
        let told = client.receiveUpdate { update in
          update.queues.contains {
            $0.id.rawValue == load.queue.id.rawValue && $0.counts.total == load.addedCount
              && $0.counts.finished == load.addedCount
          }
        }
        #expect(told != nil)
        viewer.type("Q")
        #expect(viewer.waitForEnd() == .status(0))
      }
    }
  }
}

/// A queue that is kept busy.
private final class Load: Sendable {
  let queue = OperationQueue()
  private let finished = Atomic(0)
  private let added = Atomic(0)

  init() {
    queue.name = "load"
    queue.maxConcurrentOperationCount = 4
  }

  var finishedCount: Int { finished.load(ordering: .acquiring) }
  var addedCount: Int { added.load(ordering: .acquiring) }

  /// Adds operations for so long, and waits for them.
  func run(for duration: Duration) {
    let deadline = ContinuousClock.now + duration
    while ContinuousClock.now < deadline {
      let operations = (0..<2_000).map { _ in
        BlockOperation { [self] in finished.add(1, ordering: .acquiringAndReleasing) }
      }
      added.add(operations.count, ordering: .acquiringAndReleasing)
      queue.addOperations(operations, waitUntilFinished: true)
    }
  }
}
