// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Counts the files that the system refused to write, and keeps the first error. Any thread may use its
/// members.
final class WriteFailures: Sendable {
  private struct State {
    var count = 0
    var first: (path: String, reason: String)?
  }

  private let state = Mutex(State())

  /// The error for the user; `nil` if all files could be written.
  var error: WorkloadError? {
    state.withLock { state in
      state.first.map { first in
        WorkloadError(
          code: .filesNotWritten(count: state.count, path: first.path, reason: first.reason))
      }
    }
  }

  /// Counts a file that could not be written.
  func note(_ path: String, _ error: SystemError) {
    let reason = error.description
    state.withLock { state in
      state.count += 1
      if state.first == nil { state.first = (path, reason) }
    }
  }
}
