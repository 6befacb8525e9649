// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import Synchronization

/// One `--warn` or `--allow` option on the command line, with the kinds of warnings to show or to
/// hide.
struct WarningSelection {
  /// The word that selects all kinds of warnings.
  private static let everything = "all"

  let kinds: Set<MonitorWarning.Kind>
  let isWanted: Bool
  /// A sequence number that gives the order of the `--warn` and `--allow` options on the command
  /// line. The parser keeps the order only among options of the same name. It reads all arguments
  /// from left to right, so each option gets the next number of a counter.
  let number: UInt64

  private static let lastNumber = Atomic<UInt64>(0)

  /// Parses the value of `--warn`.
  ///
  /// - Throws: `ValidationError` if a kind is unknown.
  @Sendable static func warn(_ words: String) throws -> WarningSelection {
    try WarningSelection(words, isWanted: true)
  }

  /// Parses the value of `--allow`.
  ///
  /// - Throws: `ValidationError` if a kind is unknown.
  @Sendable static func allow(_ words: String) throws -> WarningSelection {
    try WarningSelection(words, isWanted: false)
  }

  private init(_ words: String, isWanted: Bool) throws {
    var kinds: Set<MonitorWarning.Kind> = []
    for word in words.split(separator: ",", omittingEmptySubsequences: false) {
      if word == Self.everything {
        kinds.formUnion(MonitorWarning.Kind.allCases)
      } else if let kind = MonitorWarning.Kind(rawValue: String(word)) {
        kinds.insert(kind)
      } else {
        throw ValidationError("unknown warning kind \"\(word)\"; the kinds are \(Self.words)")
      }
    }
    self.kinds = kinds
    self.isWanted = isWanted
    number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// All words that `--warn` and `--allow` accept.
  static var words: String {
    MonitorWarning.Kind.allCases.map(\.rawValue).joined(separator: ", ") + " and \(everything)"
  }

  /// Returns the selected kinds of warnings. If several options name the same kind, the last option
  /// counts.
  static func kinds(after wishes: [WarningSelection]) -> Set<MonitorWarning.Kind> {
    wishes.sorted { $0.number < $1.number }.reduce(into: MonitorWarning.Kind.usual) { kinds, wish in
      if wish.isWanted { kinds.formUnion(wish.kinds) } else { kinds.subtract(wish.kinds) }
    }
  }
}
