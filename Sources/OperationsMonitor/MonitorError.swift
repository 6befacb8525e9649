// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorTransport

/// The reason why a process cannot be watched, as a sentence without a full stop.
public struct MonitorError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The sentence. Paths in it are as the system gave them.
  public let description: String

  init(_ description: String) { self.description = description }

  /// Creates the error for a missing directory of the socket.
  init(_ error: MonitorDirectoryError) { self.init(error.description) }
}
