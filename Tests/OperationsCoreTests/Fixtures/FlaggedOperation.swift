// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Ready when its dependencies are finished and its flag is raised.
final class FlaggedOperation: Operation, @unchecked Sendable {
  let flag = Flag()

  override var isReady: Bool { super.isReady && flag.isRaised }

  func allow() {
    flag.raise()
    didChangeValue(forKey: "isReady")
  }
}
