// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// One sentence about what just happened; it stays until the next key or for 5 s.
struct Notice: Sendable, Equatable {
  /// How long it stays.
  static let lifetime = Duration.seconds(5)

  /// The sentence, unsanitised.
  let text: String
  /// Whether something did not go as asked.
  let isWarning: Bool
  /// When it goes away.
  let expires: MonitorTime

  /// Creates a notice that begins to live at `now`.
  init(
    _ text: String, isWarning: Bool = false, lifetime: Duration = Self.lifetime, at now: MonitorTime
  ) {
    self.text = text
    self.isWarning = isWarning
    expires = now + lifetime
  }
}
