// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CNCurses
import Dashboard

/// The tables of the key sequences that xterm, the VT220, the Linux console, rxvt, screen and tmux send.
/// Modifiers of named keys are ignored.
enum KeySequence {
  /// Returns the key for the sequence of ESC [, these parameters and this final character.
  static func control(_ final: UInt8, parameters: ArraySlice<UInt8>) -> Input? {
    if parameters.first == UInt8(ascii: "<") { return mouse(final, parameters.dropFirst()) }
    // Parameters with a private marker belong to terminal reports, which the program did not request.
    if let first = parameters.first, (0x3C...0x3F).contains(first) { return nil }
    if final == UInt8(ascii: "~") {
      return numbered(parameters.prefix { $0 != UInt8(ascii: ";") })
    }
    if final == UInt8(ascii: "Z") { return .key(.backTab) }
    return cursor(final)
  }

  /// Returns the action of the mouse for the sequence of ESC [ <, these parameters and this final character; `nil` if
  /// the dashboard has no use for it.
  ///
  /// The parameters are the button, the column and the row. A release, a movement, another button, and a button with a
  /// modifier are not used: with Shift, many terminals select text.
  private static func mouse(_ final: UInt8, _ parameters: ArraySlice<UInt8>) -> Input? {
    let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map(number)
    guard final == UInt8(ascii: "M"), numbers.count == 3, let button = numbers[0],
      let column = numbers[1], let row = numbers[2], column > 0, row > 0
    else { return nil }
    let kinds: [Int: MouseInput.Kind] = [0: .press, 64: .wheelUp, 65: .wheelDown]
    return kinds[button].map { .mouse(MouseInput($0, row: row - 1, column: column - 1)) }
  }

  /// Returns the number with these decimal digits; `nil` if there is none, or if it is too large for a position.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...6).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  /// Returns the key for the sequence of ESC O and this character.
  static func singleShift(_ final: UInt8) -> Input? {
    switch final {
    case UInt8(ascii: "M"): .key(.enter)
    case UInt8(ascii: "j")...UInt8(ascii: "y"): .character(Unicode.Scalar(final - 0x40))
    case UInt8(ascii: "X"): .character("=")
    default: cursor(final)
    }
  }

  /// Returns the key for the sequence of ESC [ [ and this character.
  static func console(_ final: UInt8) -> Input? {
    switch final {
    case UInt8(ascii: "A")...UInt8(ascii: "E"): .function(Int(final - UInt8(ascii: "A")) + 1)
    default: nil
    }
  }

  private static func cursor(_ final: UInt8) -> Input? {
    switch final {
    case UInt8(ascii: "A"): .key(.up)
    case UInt8(ascii: "B"): .key(.down)
    case UInt8(ascii: "C"): .key(.right)
    case UInt8(ascii: "D"): .key(.left)
    case UInt8(ascii: "F"): .key(.end)
    case UInt8(ascii: "H"): .key(.home)
    case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(final - UInt8(ascii: "P")) + 1)
    default: nil
    }
  }

  private static func numbered(_ digits: ArraySlice<UInt8>) -> Input? {
    guard let number = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
    switch number {
    case 1, 7: return .key(.home)
    case 2: return .key(.insert)
    case 3: return .key(.delete)
    case 4, 8: return .key(.end)
    case 5: return .key(.pageUp)
    case 6: return .key(.pageDown)
    case 11...15: return .function(number - 10)
    case 17...21: return .function(number - 11)
    case 23, 24: return .function(number - 12)
    default: return nil
    }
  }

  /// Returns the key sequences that the description of the open terminal (terminfo) names, with their keys.
  static func ofOpenTerminal() -> [(bytes: [UInt8], input: Input)] {
    let named: [(capability: String, input: Input)] = [
      ("kcuu1", .key(.up)), ("kcud1", .key(.down)), ("kcub1", .key(.left)),
      ("kcuf1", .key(.right)), ("khome", .key(.home)), ("kend", .key(.end)),
      ("kpp", .key(.pageUp)), ("knp", .key(.pageDown)), ("kdch1", .key(.delete)),
      ("kich1", .key(.insert)), ("kcbt", .key(.backTab)), ("kent", .key(.enter)),
    ]
    let functions = (1...12).map { (capability: "kf\($0)", input: Input.function($0)) }
    return (named + functions).compactMap { capability, input in
      cncurses_key_sequence(capability).map { (Array(String(cString: $0).utf8), input) }
    }
  }
}
