// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A check whether workflows take little longer in a queue than with a simulated scheduler that has no costs.
public struct MakespanCheck: Sendable {
  private struct Row: Sendable {
    let workflow: String
    let width: Int
    var simulated: [Double] = []
    var measured: [Double] = []

    /// The median of the ratios of all rounds.
    var ratio: Double { zip(measured, simulated).map { $0 / $1 }.median ?? .infinity }
  }

  /// The largest ratio of the measured time to the simulated time that passes.
  public static let limit = 1.02

  private var rows: [Row] = []

  /// Creates a check without any measurements, which does not pass.
  public init() {}

  /// Adds the result of one round.
  ///
  /// - Parameters:
  ///   - workflow: The name of the workflow.
  ///   - width: The width of the queue.
  ///   - simulated: The time with the simulated scheduler. It has to be positive.
  ///   - measured: The time in the queue.
  public mutating func add(_ workflow: String, width: Int, simulated: Duration, measured: Duration)
  {
    let index =
      rows.firstIndex { $0.workflow == workflow && $0.width == width } ?? rows.endIndex
    if index == rows.endIndex { rows.append(Row(workflow: workflow, width: width)) }
    rows[index].simulated.append(simulated / .milliseconds(1))
    rows[index].measured.append(measured / .milliseconds(1))
  }

  /// Whether something was measured, and the median ratio of each workflow with each width is within the limit.
  public var passes: Bool { !rows.isEmpty && rows.allSatisfy { $0.ratio <= Self.limit } }

  /// A table with a row for each workflow and width: the medians of both times, and the median of the ratios.
  public var text: String {
    var table = TextTable(
      words: ["workflow"], numbers: ["width", "simulated, ms", "measured, ms", "ratio", "kept"])
    for row in rows {
      table.add(
        words: [row.workflow],
        numbers: [
          Format.whole(Double(row.width)),
          row.simulated.median.map { Format.fixed($0, decimals: 1) },
          row.measured.median.map { Format.fixed($0, decimals: 1) },
          Format.fixed(row.ratio, decimals: 4), row.ratio <= Self.limit ? "yes" : "no",
        ])
    }
    return table.text
  }
}
