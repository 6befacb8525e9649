// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// An operation's number that is being typed.
struct GoToPrompt: Sendable, Equatable {
  /// How long after the last digit the number is taken as complete.
  static let patience = Duration.seconds(1)
  /// No id has more digits.
  static let digitLimit = 20

  /// What was typed: digits, and where several processes are watched perhaps a `#` behind the first ones.
  private(set) var digits = ""
  /// The process meant where none is typed; 0 where one is watched.
  private let process: Int
  /// When the number is taken as complete.
  private(set) var expires: MonitorTime

  /// Starts with the first digit, for an operation of a process unless another one is typed.
  init(_ digit: Unicode.Scalar, process: Int = 0, at now: MonitorTime) {
    digits = String(Character(digit))
    self.process = process
    expires = now + Self.patience
  }

  /// The operation meant; `nil` for a number that no operation can have.
  var id: OperationReport.ID? {
    let parts = digits.split(separator: "#", omittingEmptySubsequences: false)
    guard let last = parts.last.flatMap({ UInt64($0) }) else { return nil }
    let id = OperationReport.ID(last)
    if process == 0 { return id }
    guard parts.count > 1 else { return id.numbered(process) }
    return Int(parts[0]).flatMap { ProcessReport.numbers.contains($0) ? id.numbered($0) : nil }
  }

  /// What is meant, as ids are shown.
  var text: String {
    if digits.contains("#") { return digits }
    return (process == 0 ? "#" : "\(process)#") + digits
  }

  /// Whether a `#` may follow.
  var takesSign: Bool { process != 0 && !digits.contains("#") }

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
