// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A fact about the state of a program, as text: what the fact is about, and the value.
struct Fact: Equatable {
  let what: String
  let value: String

  init(_ what: String, _ value: Any) {
    self.what = what
    self.value = "\(value)"
  }

  /// Returns one fact for each element of an array.
  static func each<Value>(
    _ values: [Value], _ what: String, _ name: (Int) -> String
  ) -> [Fact] {
    values.enumerated().map { Fact("\(what) \(name($0))", $1) }
  }

  /// Returns the names of the operations with these indices; `?` for an index that is `nil`.
  static func names(of indices: [Int?]) -> String {
    "[" + indices.map { $0.map(Program.name(ofOperation:)) ?? "?" }.joined(separator: ", ") + "]"
  }
}

/// A value that can be described by a list of facts.
protocol Describable: Equatable {
  var facts: [Fact] { get }
}

extension Describable {
  /// Returns a line of text for each fact that differs from the expected value.
  func differences(from expected: Self) -> [String] {
    if self == expected { return [] }
    let wanted = expected.facts
    return facts.filter { !wanted.contains($0) }.map { fact in
      let value = wanted.first { $0.what == fact.what }?.value ?? "nothing of the kind"
      return "\(fact.what): \(fact.value), expected \(value)"
    }
  }
}
