// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import NIOCore
package import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Creates the threads that serve connections.
package enum ConnectionThread {
  /// Creates an event loop group with one thread of this name. The thread blocks all signals, so
  /// that the program's own threads receive them.
  package static func makeGroup(named name: String) -> MultiThreadedEventLoopGroup {
    var all = sigset_t()
    var old = sigset_t()
    sigfillset(&all)
    // The new thread inherits the signal mask of the calling thread, so the calling thread blocks
    // all signals until the new thread exists.
    pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    group.next().execute { csystem_set_thread_name(name) }
    return group
  }
}
