// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// Records the memory and the number of threads of this process. The number of threads is the
/// highest one that `look()` has read.
final class ResourceWatch: Sendable, CustomStringConvertible {
  private let mostThreads = Monitored(0)

  /// Counts the threads that exist now.
  func look() {
    let count = ProcessStatus.amount("Threads")
    mostThreads.change { $0 = max($0, count) }
  }

  var description: String {
    "\(mostThreads.value) threads and \(ProcessStatus.amount("VmHWM") / 1_024) MiB at most"
  }
}
