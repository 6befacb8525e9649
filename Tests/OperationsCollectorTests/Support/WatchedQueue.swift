// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// A real queue and the table of a collector that watches it alone: it is unlisted, so that no
/// collector of another test reads its records.
final class WatchedQueue {
  let queue: OperationQueue
  let table = CollectorTable()
  private let recorder = RecorderID()
  private let gate = Gate()

  /// - Parameter queue: An unlisted queue, which nobody records.
  init(_ queue: OperationQueue = OperationQueue(unlistedNamed: "watched")) {
    self.queue = queue
    queue.core.startRecording(recorder, replaces: true) {}
    // As a collector does, so that what changes in an operation is noted.
    MonitorLevel.raise()
  }

  deinit { MonitorLevel.lower() }

  /// Lets the table take in what has changed.
  func read(at now: MonitorTime = ProcessFacts.now) {
    table.beginReading(at: now)
    table.apply(queue.takeRecordedChanges(for: recorder, limit: .max))
  }

  /// Nobody watches any more.
  func stop() { queue.core.stopRecording(recorder) }

  /// Fills the only slot of the queue, until ``finishAll()``.
  func fillSlot() {
    queue.maxConcurrentOperationCount = 1
    queue.addOperation { [gate] in gate.pass() }
    gate.waitForArrivals(1)
  }

  /// Lets go of what is held up, and waits for the end.
  func finishAll() {
    gate.open()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  /// What is said of one kind at a moment.
  func warnings(of kind: MonitorWarning.Kind, at now: MonitorTime) -> [MonitorWarning] {
    table.warnings(at: now, of: [kind])
  }
}

extension OperationReport.ID {
  /// The id of an operation of this process.
  init(_ operation: Operation) { self.init(operation.id.rawValue) }
}
