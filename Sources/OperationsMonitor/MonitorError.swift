// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorTransport

/// The reason why this process cannot be watched.
public struct MonitorError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason as a sentence for the user, without a full stop. Paths in the sentence are
  /// unsanitised.
  public let description: String

  init(_ description: String) { self.description = description }

  /// Creates the error for a directory that cannot be used for the socket.
  init(_ error: MonitorDirectoryError) { self.init(error.description) }
}
