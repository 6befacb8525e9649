// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A check whether the measured values are within limits that apply to every machine, even to a
/// machine that is busy with other work. A promise is a measured value with its limit.
public struct Check: Sendable {
  /// Whether the value of every promise was measured and is within its limit.
  public let passes: Bool
  /// A table of the promises, with the limit and the measured value of each.
  public let text: String

  /// Compares results with the limits of all promises. A promise without a result counts as not
  /// kept.
  public init(_ results: Results) {
    let promises = CheckedPair.all.map(\.promise)
    passes = promises.allSatisfy { $0.isKept(by: results) }
    text = TextTable(promises, in: results).text
  }
}
