// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A check of the promises that hold on every machine, even if the machine is busy with other work.
public struct Check: Sendable {
  /// Whether every promise was measured and is kept.
  public let passes: Bool
  /// A table of the promises and their values.
  public let text: String

  /// Checks results. A promise without a result counts as not kept.
  public init(_ results: Results) {
    let promises = CheckedPair.all.map(\.promise)
    passes = promises.allSatisfy { $0.isKept(by: results) }
    text = TextTable(promises, in: results).text
  }
}
