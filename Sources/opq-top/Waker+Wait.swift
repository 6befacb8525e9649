// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Glibc
import MonitorProtocol

extension Waker {
  /// Waits until it rings, and falls silent, or until a moment; `nil` for ever. It may return early.
  func wait(until moment: MonitorTime?) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, MonitorTime.pollTimeout(from: .now, until: moment)) > 0 { answer() }
  }
}
