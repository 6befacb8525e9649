// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A list of the operations that were added to it last, up to a limit.
struct LastOperations {
  private let limit: Int
  /// The ids as a ring buffer. When the buffer is full, `next` is the index of the oldest id.
  private var ids: [OperationReport.ID] = []
  private var next = 0

  init(limit: Int) { self.limit = limit }

  /// Adds an operation, which must not be in the list.
  ///
  /// - Returns: The oldest operation, which is removed because the list was full; `nil` if the list
  ///   was not full.
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
