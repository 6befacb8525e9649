// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// An operation's number that is being typed.
struct GoToPrompt: Sendable, Equatable {
  /// How long after the last digit the number is taken as complete.
  static let patience = Duration.seconds(1)
  /// No id has more digits.
  static let digitLimit = 20

  /// What was typed.
  private(set) var digits = ""
  /// When the number is taken as complete.
  private(set) var expires: MonitorTime

  /// Starts with the first digit.
  init(_ digit: Unicode.Scalar, at now: MonitorTime) {
    digits = String(Character(digit))
    expires = now + Self.patience
  }

  /// The operation meant; `nil` for a number that no operation can have.
  var id: OperationReport.ID? { UInt64(digits).map(OperationReport.ID.init) }

  /// Adds a digit.
  mutating func append(_ digit: Unicode.Scalar, at now: MonitorTime) {
    if digits.count < Self.digitLimit { digits.unicodeScalars.append(digit) }
    expires = now + Self.patience
  }

  /// Takes the last digit back.
  mutating func removeLast(at now: MonitorTime) {
    digits = String(digits.dropLast())
    expires = now + Self.patience
  }
}
