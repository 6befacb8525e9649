// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// A synchronous operation whose `cancel()` sets its own flag and does not call `super`.
class OwnCancelFlagOperation: Operation, @unchecked Sendable {
  var work: @Sendable () -> Void = {}

  private let lock = NSLock()
  private var cancelled = false

  override var isCancelled: Bool { lock.withLock { cancelled } }

  override func cancel() {
    willChangeValue(forKey: "isCancelled")
    lock.withLock { cancelled = true }
    didChangeValue(forKey: "isCancelled")
  }

  override func main() { work() }
}
