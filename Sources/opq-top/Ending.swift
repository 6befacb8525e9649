// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How the process ends.
enum Ending: Sendable, Equatable {
  /// With an exit status: 0 when all is well, 1 when what was watched or the terminal is gone or
  /// something could not be written, 2 when it was called wrongly or there is no terminal.
  case status(Int32)
  /// By a signal that asked it to.
  case signal(Int32)
}
