// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The prompt in which the user types the number of the operation to select.
struct GoToPrompt: Sendable, Equatable {
  /// The time from the last typed digit until the number counts as complete.
  static let patience = Duration.seconds(1)
  /// The maximum number of digits of an id.
  static let digitLimit = 20

  /// The typed text: digits and, if several processes are watched, possibly a `#` after the first digits.
  private(set) var digits = ""
  /// The number of the process to use if the user types no process; 0 if only one process is watched.
  private let process: Int
  /// The time at which the number counts as complete if the user types nothing more.
  private(set) var expires: MonitorTime

  /// Creates a prompt that contains the first typed digit. The operation belongs to `process` unless the user
  /// types another process.
  init(_ digit: Unicode.Scalar, process: Int = 0, at now: MonitorTime) {
    digits = String(Character(digit))
    self.process = process
    expires = now + Self.patience
  }

  /// The operation with the typed number; `nil` if no operation can have this number.
  var id: OperationReport.ID? {
    let parts = digits.split(separator: "#", omittingEmptySubsequences: false)
    guard let last = parts.last.flatMap({ UInt64($0) }) else { return nil }
    let id = OperationReport.ID(last)
    if process == 0 { return id }
    guard parts.count > 1 else { return id.numbered(process) }
    return Int(parts[0]).flatMap { ProcessReport.numbers.contains($0) ? id.numbered($0) : nil }
  }

  /// The typed number as the screen shows ids, such as `#12`, or `2#12` if several processes are watched.
  var text: String {
    if digits.contains("#") { return digits }
    return (process == 0 ? "#" : "\(process)#") + digits
  }

  /// Whether the user may type a `#` next.
  var takesSign: Bool { process != 0 && !digits.contains("#") }

  /// Appends a digit or a `#` to the typed number.
  mutating func append(_ digit: Unicode.Scalar, at now: MonitorTime) {
    if digits.count < Self.digitLimit { digits.unicodeScalars.append(digit) }
    expires = now + Self.patience
  }

  /// Removes the last digit of the typed number.
  mutating func removeLast(at now: MonitorTime) {
    digits = String(digits.dropLast())
    expires = now + Self.patience
  }
}
