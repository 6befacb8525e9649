// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Why a process cannot be watched, as a sentence without a full stop.
public struct MonitorError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The sentence; paths in it are as the system gave them.
  public let description: String

  init(_ description: String) { self.description = description }
}
