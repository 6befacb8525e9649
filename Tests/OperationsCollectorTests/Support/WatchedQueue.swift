// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// A real queue, and the table of a collector that watches only this queue. The queue is unlisted,
/// so that collectors of other tests do not read its records.
final class WatchedQueue {
  let queue: OperationQueue
  let table = CollectorTable()
  private let collector = CollectorID()
  private let gate = Gate()

  /// Begins to record the changes of a queue.
  ///
  /// - Parameter queue: An unlisted queue that is not being recorded.
  init(_ queue: OperationQueue = OperationQueue(unlistedNamed: "watched")) {
    self.queue = queue
    queue.core.keepRecords(for: collector, replaces: true) {}
    // Operations record their changes only while the monitor level is raised. A collector raises
    // the level, so the test raises it too.
    MonitorLevel.raise()
  }

  deinit { MonitorLevel.lower() }

  /// Reads the recorded changes of the queue, and applies them to the table.
  func read(at now: MonitorTime = MonitorTime.now) {
    table.beginReading(at: now)
    table.apply(
      queue.takeChanges(for: collector, limit: .max, readyLimit: table.readyLimit(of: id)))
    table.endReading(of: [queue])
  }

  /// The id that reports use for the queue.
  var id: QueueReport.ID { QueueReport.ID(queue.id.rawValue) }

  /// Makes a viewer request other data, reads the queue, and completes the viewer's list.
  @discardableResult
  func watch(_ interest: Interest) -> SessionList {
    let session = SessionID(rawValue: 1)
    table.keepList(for: session, interest, at: MonitorTime.now)
    read()
    guard let list = table.lists[session] else { preconditionFailure("The list was not created") }
    list.fill(from: table, until: .now + .seconds(60))
    return list
  }

  /// Reads the queue, and returns the next update of a viewer with an interest.
  func update(_ interest: Interest) -> Update { watch(interest).takeUpdate(from: table) }

  /// Adds operations, each with a kind.
  @discardableResult
  func add(kinds: [String]) -> [BlockOperation] {
    let operations = kinds.map { kind in
      let operation = BlockOperation {}
      operation.kind = kind
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: false)
    return operations
  }

  /// Ends the recording of the queue's changes.
  func stop() { queue.core.dropRecords(of: collector) }

  /// Sets the queue's width to 1, and blocks this slot with an operation until ``finishAll()`` is
  /// called.
  func fillSlot() {
    queue.maxConcurrentOperationCount = 1
    queue.addOperation { [gate] in gate.pass() }
    gate.waitForArrivals(1)
  }

  /// Resumes the queue, releases the blocked operations, and waits until all operations have
  /// finished.
  func finishAll() {
    gate.open()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Returns the warnings of one kind that exist at a certain time.
  func warnings(of kind: MonitorWarning.Kind, at now: MonitorTime) -> [MonitorWarning] {
    table.warnings(at: now, of: [kind])
  }
}

extension OperationReport.ID {
  /// Creates the id that reports use for an operation of this process.
  init(_ operation: Operation) { self.init(operation.id.rawValue) }
}
