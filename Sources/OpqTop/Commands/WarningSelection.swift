// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import Synchronization

/// One `--warn` or `--allow` of the command line: which kinds of warnings are wanted, or not.
struct WarningSelection {
  /// The word that stands for all kinds.
  private static let everything = "all"

  let kinds: Set<MonitorWarning.Kind>
  let isWanted: Bool
  /// Of two wishes the later one has the higher number, whichever options they came with: the parser
  /// keeps the order within one option alone, but reads the arguments from left to right.
  let number: UInt64

  private static let lastNumber = Atomic<UInt64>(0)

  /// Reads the value of `--warn`.
  ///
  /// - Throws: `ValidationError` where it names a kind that there is not.
  @Sendable static func warn(_ words: String) throws -> WarningSelection {
    try WarningSelection(words, isWanted: true)
  }

  /// Reads the value of `--allow`.
  ///
  /// - Throws: `ValidationError` where it names a kind that there is not.
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
        throw ValidationError("there is no \"\(word)\"; the kinds are \(Self.words)")
      }
    }
    self.kinds = kinds
    self.isWanted = isWanted
    number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// All that an option may name.
  static var words: String {
    MonitorWarning.Kind.allCases.map(\.rawValue).joined(separator: ", ") + " and \(everything)"
  }

  /// The kinds that are wanted after all these wishes: of those that name a kind the last one counts.
  static func kinds(after wishes: [WarningSelection]) -> Set<MonitorWarning.Kind> {
    wishes.sorted { $0.number < $1.number }.reduce(into: MonitorWarning.Kind.usual) { kinds, wish in
      if wish.isWanted { kinds.formUnion(wish.kinds) } else { kinds.subtract(wish.kinds) }
    }
  }
}
