// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// An operation that is ready when its dependencies have finished and its flag is set.
final class FlaggedOperation: Operation, @unchecked Sendable {
  let flag = Flag()
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void = {}) {
    self.work = work
    super.init()
  }

  override var isReady: Bool { super.isReady && flag.isRaised }

  func allow() {
    flag.raise()
    didChangeValue(forKey: "isReady")
  }

  override func main() { work() }
}
