// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorTransport

/// Why a process cannot be watched, as a sentence without a full stop.
public struct MonitorError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The sentence; paths in it are as the system gave them.
  public let description: String

  init(_ description: String) { self.description = description }

  /// Takes over why there is no directory for the socket.
  init(_ error: MonitorDirectoryError) { self.init(error.description) }
}
