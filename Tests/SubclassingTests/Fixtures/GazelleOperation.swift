// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// A synchronous operation that has its own flag `isExecuting`, and changes the flag before and
/// after its work, as a tutorial recommends. The change before the work is redundant, because
/// `start()` has already announced it.
class GazelleOperation: Operation, @unchecked Sendable {
  var work: @Sendable () -> Void = {}

  private let lock = NSLock()
  private var executing = false

  override var isExecuting: Bool {
    get { lock.withLock { executing } }
    set {
      willChangeValue(forKey: "isExecuting")
      lock.withLock { executing = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }

  override func main() {
    if isCancelled { return }
    isExecuting = true
    work()
    isExecuting = false
  }
}
