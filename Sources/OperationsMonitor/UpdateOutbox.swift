// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The update that is being sent to a viewer, part by part. Each part uses one credit. There is at most one
/// update at a time.
struct UpdateOutbox {
  /// The maximum credit. More is discarded.
  static let mostCredit = WireLimits.mostCredit

  private(set) var credit = 0
  private var parts: UpdateParts?
  private var nextPart: [UInt8]?

  /// Whether another update may be begun.
  var takesUpdate: Bool { nextPart == nil && credit > 0 }

  /// Adds credit for more parts.
  mutating func grant(_ count: Int) { credit = min(credit + max(0, count), Self.mostCredit) }

  /// Begins to send an update.
  mutating func begin(_ update: Update) {
    parts = UpdateParts(update)
    nextPart = parts?.next()
  }

  /// Returns the next part to send, or `nil` if there is none or no credit is left.
  mutating func next() -> [UInt8]? {
    guard credit > 0, let part = nextPart else { return nil }
    credit -= 1
    nextPart = parts?.next()
    if nextPart == nil { parts = nil }
    return part
  }
}
