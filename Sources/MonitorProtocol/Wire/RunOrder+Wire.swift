// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireRunOrder {
  init(_ order: RunOrder) {
    let most = WireLimits.mostRunOrderOperations
    self.init()
    queue = order.queue.rawValue
    executing = order.executing.prefix(most).map(\.rawValue)
    ready = order.ready.prefix(most).map(\.rawValue)
    isCut = order.isCut || order.ready.count > most
  }
}

extension RunOrder {
  /// Creates an order from a message. If the message has too many ids, only the first ones are kept.
  init(_ wire: WireRunOrder) {
    let most = WireLimits.mostRunOrderOperations
    self.init(
      queue: .init(wire.queue), executing: wire.executing.prefix(most).map { .init($0) },
      ready: wire.ready.prefix(most).map { .init($0) },
      isCut: wire.isCut || wire.ready.count > most)
  }
}

extension WireInterest.RunOrderRequest {
  // The ids are sorted, so that equal requests have equal bytes.
  init(_ request: Interest.RunOrderRequest) {
    self.init()
    queues = Array(request.queues.map(\.rawValue).sorted().prefix(WireLimits.mostRunOrders))
    limit = Int64(request.limit.clamped(to: 0...WireLimits.mostRunOrderOperations))
    includesOperations = request.includesOperations
  }
}

extension Interest.RunOrderRequest {
  init(_ wire: WireInterest.RunOrderRequest) throws(WireError) {
    guard wire.queues.count <= WireLimits.mostRunOrders else {
      throw WireError(
        """
        the viewer requests the run orders of \(wire.queues.count) queues; the limit is \
        \(WireLimits.mostRunOrders)
        """)
    }
    self.init(
      queues: Set(wire.queues.lazy.map { QueueReport.ID($0) }),
      limit: try checked(
        wire.limit, in: 0...WireLimits.mostRunOrderOperations, "a run order's limit"),
      includesOperations: wire.includesOperations)
  }
}
