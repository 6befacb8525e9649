// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

/// A serial dispatch queue that can determine whether the calling code runs on it.
final class MarkedQueue: Sendable {
  let queue = DispatchQueue(label: "marked")
  private let key = DispatchSpecificKey<Bool>()

  init() { queue.setSpecific(key: key, value: true) }

  var isRunningHere: Bool { DispatchQueue.getSpecific(key: key) == true }
}
