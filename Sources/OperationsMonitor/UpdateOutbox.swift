// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The update that is sent to a viewer, part by part. The viewer grants credit, which is the number
/// of parts that may be sent. Each part uses one credit. The outbox contains at most one update.
struct UpdateOutbox {
  /// The maximum number of parts that may be sent without further credit from the viewer. Credit
  /// above this maximum is discarded.
  static let mostCredit = WireLimits.mostCredit

  private(set) var credit = 0
  private var parts: UpdateParts?
  private var nextPart: [UInt8]?

  /// Whether all parts of the update were sent.
  var isEmpty: Bool { nextPart == nil }

  /// Whether the outbox accepts another update.
  var takesUpdate: Bool { nextPart == nil && credit > 0 }

  /// Adds credit for further parts of updates.
  mutating func grant(_ count: Int) { credit = min(credit + max(0, count), Self.mostCredit) }

  /// Puts an update into the outbox.
  mutating func begin(_ update: Update) {
    parts = UpdateParts(update)
    nextPart = parts?.next()
  }

  /// Removes and returns the next part to send; `nil` if the outbox is empty, or if no credit is
  /// left.
  mutating func next() -> [UInt8]? {
    guard credit > 0, let part = nextPart else { return nil }
    credit -= 1
    nextPart = parts?.next()
    if nextPart == nil { parts = nil }
    return part
  }
}
