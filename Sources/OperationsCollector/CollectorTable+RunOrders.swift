// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

// This file contains the orders in which queues start their operations. They are read together with the changes of the
// queues, and only for sessions that request them.

extension CollectorTable {
  /// The maximum number of ready operations that one reading of all queues reads for the lists that are sorted by
  /// position. The queues with ready operations share it.
  private static let mostReadyOperations = 20_000
  /// The number of executing operations that are compared, in all run orders of an update together.
  private static let mostComparedOperations = 10_000

  /// Returns the maximum number of ready operations of a queue that the sessions request; 0 if no session requests the
  /// order of the queue.
  func readyLimit(of queue: QueueReport.ID) -> Int {
    let share = max(1, Self.mostReadyOperations / max(1, readyQueueCount))
    return lists.values.reduce(0) { limit, list in
      max(limit, list.interest.readyLimit(of: queue, share: share, orderedQueues: orderedQueues))
    }
  }

  /// Chooses the queues whose orders are sent to viewers that request the orders of all queues. These are the queues
  /// with executing or ready operations, up to a limit.
  func chooseOrderedQueues() {
    guard lists.values.contains(where: { $0.interest.runOrder?.queues.isEmpty == true }) else {
      orderedQueues = []
      return
    }
    let busy = queues.values.lazy.filter { $0.counts.executing + $0.counts.ready > 0 }.map(\.id)
    orderedQueues = Set(busy.sorted().prefix(WireLimits.mostRunOrders))
  }

  /// Whether a session requests the order of a queue that the collector has not read, or further operations of it.
  var lacksReadyOrders: Bool { queues.keys.contains(where: lacksReadyOrder) }

  private func lacksReadyOrder(of queue: QueueReport.ID) -> Bool {
    let limit = readyLimit(of: queue)
    guard limit > 0, let known = readyOrders[queue] else { return limit > 0 }
    return known.isCut && known.operations.count < limit
  }

  /// The positions of ready operations in the orders of their queues, from 1 on.
  var positions: [OperationReport.ID: Int] {
    var positions: [OperationReport.ID: Int] = [:]
    for order in readyOrders.values {
      for (index, id) in order.operations.enumerated() {
        positions[OperationReport.ID(id.rawValue)] = index + 1
      }
    }
    return positions
  }

  /// Stores the order of a queue, or removes it if no session requests it.
  func take(_ order: ReadyOrder?, of queue: QueueReport.ID) {
    if let order {
      readyOrders[queue] = order
    } else if readyOrders[queue] != nil, readyLimit(of: queue) == 0 {
      readyOrders[queue] = nil
    }
  }

  /// Reads the missing orders of queues whose operations have become executing or ready, and sorts the lists again that
  /// are sorted by position. Called after a reading of the queues.
  func endReading(of existing: [OperationQueue]) {
    chooseOrderedQueues()
    for queue in existing {
      let id = QueueReport.ID(queue.id.rawValue)
      guard orderedQueues.contains(id), lacksReadyOrder(of: id) else { continue }
      readyOrders[id] = queue.readyOrder(limit: readyLimit(of: id))
    }
    let sorted = lists.values.filter { $0.interest.order.column == .position }
    guard !sorted.isEmpty else { return }
    let positions = positions
    for list in sorted { list.positionsDidChange(to: positions, in: self) }
  }

  /// Returns the run orders that a viewer requests.
  func runOrders(_ request: Interest.RunOrderRequest) -> [RunOrder] {
    let wanted =
      request.queues.isEmpty ? orderedQueues : request.queues.filter { queues[$0] != nil }
    let ids = wanted.sorted().prefix(WireLimits.mostRunOrders)
    let limit = max(0, min(request.limit, WireLimits.mostRunOrderOperations))
    let comparedCount = max(limit, Self.mostComparedOperations / max(1, ids.count))
    return RunOrder.fitting(
      ids.map { id in
        let known = readyOrders[id]
        return RunOrder(
          queue: id, executing: executing(in: id, limit: limit, comparing: comparedCount),
          ready: known?.operations.prefix(limit).map { OperationReport.ID($0.rawValue) } ?? [],
          isCut: known.map { $0.isCut || $0.operations.count > limit } ?? false)
      })
  }

  /// Returns the executing operations of a queue, the longest run first. If the queue executes very many operations,
  /// only those with the lowest ids are compared.
  private func executing(
    in queue: QueueReport.ID, limit: Int, comparing count: Int
  ) -> [OperationReport.ID] {
    let reports = running.prefix(count, of: queue).compactMap { report($0) }
    // An operation that began before monitoring has run for the longest time.
    let earliest = MonitorTime(nanoseconds: .min)
    let sorted = reports.sorted {
      ($0.started ?? earliest, $0.id) < ($1.started ?? earliest, $1.id)
    }
    return sorted.prefix(limit).map(\.id)
  }
}

extension Interest {
  /// Returns how many ready operations of a queue the viewer requests.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - share: The maximum number of ready operations of each queue, if the list is sorted by position.
  ///   - orderedQueues: The queues whose orders are sent, if the viewer requests the orders of all queues.
  /// - Returns: The maximum number of operations; 0 if the viewer does not request the order.
  fileprivate func readyLimit(
    of queue: QueueReport.ID, share: Int, orderedQueues: Set<QueueReport.ID>
  ) -> Int {
    let most = WireLimits.mostRunOrderOperations
    let sorted = order.column == .position && rowLimit != nil ? min(most, share) : 0
    guard let runOrder else { return sorted }
    let queues = runOrder.queues.isEmpty ? orderedQueues : runOrder.queues
    return queues.contains(queue) ? max(sorted, min(runOrder.limit, most)) : sorted
  }

  /// Returns the operations of the run orders, if the viewer requests them for queues that it has named. The viewer shows
  /// them, also if they are not in its list.
  func operations(in orders: [RunOrder]) -> Set<OperationReport.ID> {
    guard let runOrder, runOrder.includesOperations, !runOrder.queues.isEmpty else { return [] }
    return Set(orders.lazy.flatMap { $0.executing + $0.ready })
  }
}

extension RunOrder {
  /// Returns the orders with at most as many operations as one update may contain. If there are too many, the longest
  /// lists are shortened.
  static func fitting(_ orders: [RunOrder]) -> [RunOrder] {
    func count(of limit: Int) -> Int {
      orders.reduce(0) { $0 + min($1.executing.count, limit) + min($1.ready.count, limit) }
    }
    var limit = WireLimits.mostRunOrderOperations
    while limit > 0, count(of: limit) > WireLimits.mostRunOrderIDs { limit -= max(1, limit / 8) }
    return orders.map { order in
      var order = order
      order.isCut = order.isCut || order.ready.count > limit
      order.executing = Array(order.executing.prefix(limit))
      order.ready = Array(order.ready.prefix(limit))
      return order
    }
  }
}
