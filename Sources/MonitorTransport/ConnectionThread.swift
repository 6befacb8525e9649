// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import NIOCore
package import NIOPosix

/// The threads of connections.
package enum ConnectionThread {
  /// Creates one thread with this name. It blocks all signals, which are for threads of the program.
  package static func makeGroup(named name: String) -> MultiThreadedEventLoopGroup {
    var all = sigset_t()
    var old = sigset_t()
    sigfillset(&all)
    // The new thread inherits the mask.
    pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    group.next().execute { csystem_set_thread_name(name) }
    return group
  }
}
