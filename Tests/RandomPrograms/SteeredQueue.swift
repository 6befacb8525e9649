// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

@testable import OperationsCore

/// A queue of a random program. It reports its deallocation.
final class SteeredQueue: OperationQueue, @unchecked Sendable {
  let index: Int
  private let reports: Reports

  init(
    _ index: Int, width: Int, onDispatch: Bool, reports: Reports, pool: WorkerPool = .shared
  ) {
    self.index = index
    self.reports = reports
    super.init(pool: pool)
    maxConcurrentOperationCount = width
    if onDispatch {
      underlyingQueue = DispatchQueue(label: "steered", attributes: .concurrent)
    }
  }

  deinit { reports.note { [index] in $0.isQueueDestroyed[index] = true } }
}
