// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The update that a viewer is being sent, part by part: each part costs it one credit. There is never
/// more than one.
struct UpdateOutbox {
  /// More credit than this is not kept.
  static let mostCredit = WireLimits.mostCredit

  private(set) var credit = 0
  private var parts: UpdateParts?
  private var nextPart: [UInt8]?

  /// Whether another update may be begun.
  var takesUpdate: Bool { nextPart == nil && credit > 0 }

  /// The viewer takes so many more parts.
  mutating func grant(_ count: Int) { credit = min(credit + max(0, count), Self.mostCredit) }

  /// Begins to send an update.
  mutating func begin(_ update: Update) {
    parts = UpdateParts(update)
    nextPart = parts?.next()
  }

  /// The next part to be sent; `nil` where there is none, or no credit.
  mutating func next() -> [UInt8]? {
    guard credit > 0, let part = nextPart else { return nil }
    credit -= 1
    nextPart = parts?.next()
    if nextPart == nil { parts = nil }
    return part
  }
}
