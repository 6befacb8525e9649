// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

extension Duration {
  /// The same time for timers, rounded down to nanoseconds.
  var dispatchInterval: DispatchTimeInterval {
    .nanoseconds(
      Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000))
  }
}
