// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueScheduler {
  /// The operations that have not left, in the order of addition.
  var allOperations: [Operation] {
    var all: [Operation] = []
    all.reserveCapacity(counts.unfinished)
    forEachOperation { all.append($0.takeUnretainedValue()) }
    return all
  }

  /// Whether a barrier has been chosen to be started and has not finished.
  var isBarrierRunning: Bool { barriers.front == .running }

  /// The barriers that have not finished, in the order of addition.
  var allBarriers: [Operation] { barriers.operations.map { $0.takeUnretainedValue() } }

  /// Whether what is ready may have to wait for a slot until an operation that has one finishes.
  var isFull: Bool {
    maxConcurrentOperationCount > 0 && counts.executing >= maxConcurrentOperationCount
  }

  /// The operations that have a slot, in the order of addition.
  var slotHolders: [Operation] {
    var holders: [Operation] = []
    var current = operations.after(nil)
    while let operation = current, holders.count < counts.executing {
      operation._withUnsafeGuaranteedRef { if $0.place.stage == .executing { holders.append($0) } }
      current = operations.after(operation)
    }
    return holders
  }

  /// Everything, in the order of addition; ready operations in their own order besides.
  var contents: QueueContents {
    var contents = QueueContents()
    contents.entries.reserveCapacity(counts.unfinished + barriers.count)
    let allBarriers = allBarriers
    var barriersSeen = 0
    func appendBarrier() {
      let barrier = allBarriers[barriersSeen]
      let isFirst = barriersSeen == 0
      barriersSeen += 1
      contents.entries.append(entry(ofBarrier: barrier, isFirst: isFirst))
    }
    forEachOperation { operation in
      operation._withUnsafeGuaranteedRef {
        let barriersAhead = barriers.countAhead(of: $0)
        while barriersSeen < barriersAhead { appendBarrier() }
        contents.entries.append(entry(of: $0, barriersAhead: barriersAhead))
      }
    }
    while barriersSeen < allBarriers.count { appendBarrier() }
    contents.readyOrder.reserveCapacity(counts.ready)
    forEachReady {
      contents.readyOrder.append($0.toOpaque())
      return true
    }
    return contents
  }

  private func forEachOperation(_ body: (Unmanaged<Operation>) -> Void) {
    var current = operations.after(nil)
    while let operation = current {
      body(operation)
      current = operations.after(operation)
    }
  }

  /// Ready operations, and the barrier whose turn it is, in the order in which they would be started,
  /// as long as `body` says `true`.
  func forEachReady(_ body: (Unmanaged<Operation>) -> Bool) {
    guard ready.forEach(body) else { return }
    for (index, barrier) in barriers.operations.enumerated() {
      if index == 0, barriers.front == .due, !body(barrier) { return }
      guard barriers.readyOperations(behind: index).forEach(body) else { return }
    }
  }

  private func entry(of operation: Operation, barriersAhead: Int) -> QueueContents.Entry {
    let record = operation.rare?.record?.snapshot
    return QueueContents.Entry(
      operation: operation, state: QueueMonitor.state(of: operation.place.stage), isBarrier: false,
      isCancelled: operation.place.isCountedAsCancelling, barriersAhead: barriersAhead,
      added: record?.added, becameReady: record?.becameReady, started: record?.started)
  }

  private func entry(ofBarrier barrier: Operation, isFirst: Bool) -> QueueContents.Entry {
    let state: OperationState =
      switch barriers.front {
      case .due where isFirst: .ready
      case .running where isFirst: .executing
      case .none, .blocked, .due, .running: .waiting
      }
    return QueueContents.Entry(
      operation: barrier, state: state, isBarrier: true,
      isCancelled: barrier.status.load(ordering: .acquiring).isCancelled, barriersAhead: 0)
  }
}
