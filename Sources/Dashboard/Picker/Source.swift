// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What can be watched.
public enum Source: Sendable, Equatable {
  /// Another process. It goes on when the dashboard leaves it.
  case process(ProcessChoice.ID)
  /// Several other processes as one. They go on when the dashboard leaves them.
  case processes([ProcessChoice.ID])
  /// The bundled demo. It runs in this process, and ends when the dashboard quits or opens another
  /// source.
  case demo
  /// A recording of another process, in the file of this path.
  case recording(String)
}
