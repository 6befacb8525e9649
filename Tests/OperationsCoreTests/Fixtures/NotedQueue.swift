// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// A queue that records its deallocation in a log, as "queue released".
final class NotedQueue: OperationQueue, @unchecked Sendable {
  private let log: EventLog<String>

  init(_ log: EventLog<String>) {
    self.log = log
    super.init()
  }

  deinit { log.note("queue released") }
}
