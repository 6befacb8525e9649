// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// An operation on the command line: its id, such as `1042` or `#1042`, or its name.
enum OperationWord: ExpressibleByArgument {
  case id(OperationReport.ID)
  case name(String)

  /// Parses a word; `nil` if it is empty or the number 0. A number is always an id.
  init?(argument: String) {
    let digits = argument.hasPrefix("#") ? argument.dropFirst() : argument[...]
    let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard isNumber, let number = UInt64(digits) else {
      if argument.isEmpty { return nil }
      self = .name(argument)
      return
    }
    guard number > 0 else { return nil }
    self = .id(OperationReport.ID(number))
  }

  /// Parses a word.
  ///
  /// - Throws: `ValidationError` if the text is neither an id nor a name.
  @Sendable static func read(_ argument: String) throws -> OperationWord {
    guard let word = OperationWord(argument: argument) else {
      throw ValidationError("\"\(argument)\" is not an operation id (a number from 1)")
    }
    return word
  }

  /// Returns the ids of words.
  ///
  /// - Parameters:
  ///   - words: The words.
  ///   - find: A function that returns the id of each of several names. It is not called if all words are ids.
  /// - Returns: The ids, in the order of the words.
  /// - Throws: The error of the function.
  static func ids(
    of words: [OperationWord], _ find: ([String]) throws -> [String: OperationReport.ID]
  ) throws -> [OperationReport.ID] {
    var names: [String] = []
    for case .name(let name) in words where !names.contains(name) { names.append(name) }
    let found = names.isEmpty ? [:] : try find(names)
    return words.compactMap { word in
      switch word {
      case .id(let id): id
      case .name(let name): found[name]
      }
    }
  }
}
