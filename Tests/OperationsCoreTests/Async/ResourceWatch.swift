// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// How many threads this process has had at most, as far as was looked, and how much memory.
final class ResourceWatch: Sendable, CustomStringConvertible {
  private let mostThreads = Monitored(0)

  /// Counts the threads of this moment.
  func look() {
    let count = ProcessStatus.amount("Threads")
    mostThreads.change { $0 = max($0, count) }
  }

  var description: String {
    "\(mostThreads.value) threads and \(ProcessStatus.amount("VmHWM") / 1_024) MiB at most"
  }
}
