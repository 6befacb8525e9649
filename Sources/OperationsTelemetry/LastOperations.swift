// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Remembers the operations that came last, so many at most.
struct LastOperations {
  private let limit: Int
  /// A ring: once it is full, the oldest is at `next`.
  private var ids: [OperationReport.ID] = []
  private var next = 0

  init(limit: Int) { self.limit = limit }

  /// Adds one that is not there.
  ///
  /// - Returns: The one that is forgotten instead; `nil` while there is room.
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
