// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// A synchronous subclass. Unlike a block operation, it does not use the queue's fast path.
class PlainSubclass: Operation, @unchecked Sendable {
  private let work: @Sendable () -> Void
  private let atDeinit: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void = {}, atDeinit: @escaping @Sendable () -> Void = {}) {
    self.work = work
    self.atDeinit = atDeinit
    super.init()
  }

  deinit { atDeinit() }

  override func main() { work() }
}
