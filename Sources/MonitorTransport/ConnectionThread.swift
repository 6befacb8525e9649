// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import NIOCore
package import NIOPosix

/// Creates the threads that serve connections.
package enum ConnectionThread {
  /// Creates an event loop group with one thread of this name. The thread blocks all signals, so
  /// that the program's own threads receive them.
  package static func makeGroup(named name: String) -> MultiThreadedEventLoopGroup {
    var old = cmonitor_signal_mask()
    // The new thread inherits the signal mask of the calling thread, so the calling thread blocks
    // all signals until the new thread exists.
    cmonitor_block_all_signals(&old)
    defer { cmonitor_restore_signals(&old) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    group.next().execute { csystem_set_thread_name(name) }
    return group
  }
}
