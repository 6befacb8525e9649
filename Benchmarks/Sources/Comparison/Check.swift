// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Whether results keep the promises that hold on any machine, also on one that is busy with other
/// things.
public struct Check: Sendable {
  /// Whether each of the promises was measured and is kept.
  public let passes: Bool
  /// The promises and their figures, as a table.
  public let text: String

  /// Judges results; what is missing in them is not kept.
  public init(_ results: Results) {
    let promises = CheckedPair.all.map(\.promise)
    passes = promises.allSatisfy { $0.isKept(by: results) }
    text = TextTable(promises, in: results).text
  }
}
