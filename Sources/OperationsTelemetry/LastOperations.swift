// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that were added last, up to a limit.
struct LastOperations {
  private let limit: Int
  /// A ring buffer. When it is full, `next` is the index of the oldest element.
  private var ids: [OperationReport.ID] = []
  private var next = 0

  init(limit: Int) { self.limit = limit }

  /// Adds an operation that is not in the list.
  ///
  /// - Returns: The operation that is removed to make room; `nil` if the list was not full.
  mutating func add(_ id: OperationReport.ID) -> OperationReport.ID? {
    if ids.count < limit {
      ids.append(id)
      return nil
    }
    defer {
      ids[next] = id
      next = (next + 1) % limit
    }
    return ids[next]
  }
}
