// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Operations
import Synchronization
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

/// Tests with a viewer that is stopped while the watched process works. The test takes a minute if
/// the variable `OPQ_EFFORT` requests the full effort, and otherwise a few seconds.
@Suite(.timeLimit(.minutes(5))) struct StoppedViewerTests {
  @Test(
    "For a viewer that is stopped under load no update is queued, and later it is up to date")
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
        let seconds = Effort.percent >= 100 ? 60 : 3
        // Besides the stopped viewer, there are two more viewers: one grants the maximum credit but
        // reads no data, and the other one is in this process.
        let deaf = try #require(WireClient(path: path))
        #expect(deaf.greet().isGreeting)
        deaf.send(.watch(Interest(rowLimit: 100_000), interval: .milliseconds(100)))
        deaf.send(.credit(WireLimits.mostCredit))
        let session = MonitorSession(minimumInterval: .milliseconds(100), isReadOnly: true) {}
        defer { session.invalidate() }

        viewer.signal(SIGSTOP)
        let startCount = load.finishedCount
        load.run(for: .seconds(seconds))
        #expect(load.finishedCount == load.addedCount)
        #expect(load.finishedCount > startCount)
        #expect(session.takeMessages().count { if case .update = $0 { true } else { false } } == 1)
        // The viewer that has read nothing now receives the contents of the socket, the rest of one
        // update, and one more update with the latest values. All updates of the whole time would
        // be 16 MB.
        #expect(load.isReported(to: deaf))
        #expect(deaf.receivedByteCount < 6 << 20, "\(deaf.receivedByteCount)")

        viewer.signal(SIGCONT)
        viewer.forgetScreen()
        viewer.type("\u{C}")
        #expect(viewer.wait { $0.contains("LIVE") && $0.contains("total") })
        // A new viewer receives the final counts too.
        let client = try #require(WireClient(path: path))
        #expect(client.greet().isGreeting)
        client.send(.watch(Interest(), interval: .milliseconds(10)))
        client.send(.credit(8))
        #expect(load.isReported(to: client))
        viewer.type("Q")
        #expect(viewer.waitForEnd() == .status(0))
      }
    }
  }
}

/// A queue to which a test adds operations continuously, and counts of the operations.
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

  /// Receives updates of a viewer until an update reports that all added operations have finished.
  /// Returns `false` if no update reports this in time.
  func isReported(to client: WireClient) -> Bool {
    let update = client.receiveUpdate { update in
      update.queues.contains {
        $0.id.rawValue == queue.id.rawValue && $0.counts.total == addedCount
          && $0.counts.finished == addedCount
      }
    }
    return update != nil
  }

  /// Adds operations for a certain time, and waits until all of them have finished.
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
