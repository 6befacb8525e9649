// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// What was measured, as text for people that is valid Markdown.
public struct Report: Sendable {
  private let results: Results

  /// Reports on results.
  public init(_ results: Results) { self.results = results }

  /// All tables that there are results for, each below a line that says what it holds.
  public var text: String {
    sections.filter { !$0.table.rows.isEmpty }
      .map { "\($0.title)\n\n\($0.table.text)" }
      .joined(separator: "\n")
  }

  private var sections: [(title: String, table: TextTable)] {
    [
      (
        "Nanoseconds per operation. Growth: the last figure of the row divided by the first.", times
      ),
      (
        "The same as ratios: ours divided by the other's, so that below 1 ours is faster. Growth: ours.",
        ratios
      ),
    ]
  }

  private var times: TextTable {
    let sizes = results.sizes(.nanosecondsPerOperation)
    var table = TextTable(
      words: ["workload", "by"], numbers: sizes.map(Format.size) + ["growth"])
    for workload in results.workloads(.nanosecondsPerOperation) {
      for contender in results.contenders(workload) {
        let figures = sizes.map { results.value(workload, $0, contender).map(Format.whole) }
        let growth = results.growth(workload, contender).map(Format.ratio)
        table.add(words: [workload.rawValue, contender.title], numbers: figures + [growth])
      }
    }
    return table
  }

  private var ratios: TextTable {
    let sizes = results.sizes(.nanosecondsPerOperation)
    var table = TextTable(
      words: ["workload", "ours to"], numbers: sizes.map(Format.size) + ["growth"])
    for workload in results.workloads(.nanosecondsPerOperation) {
      for peer in results.contenders(workload) where peer != .operations {
        let figures = sizes.map { results.ratio(workload, $0, .operations, to: peer) }
        if figures.allSatisfy({ $0 == nil }) { continue }
        let growth = results.growth(workload, .operations).map(Format.ratio)
        table.add(
          words: [workload.rawValue, peer.title],
          numbers: figures.map { $0.map(Format.ratio) } + [growth])
      }
    }
    return table
  }
}

extension Contender {
  /// The name for people.
  var title: String {
    switch self {
    case .operations: "Operations"
    case .foundation: "Foundation"
    case .dispatch: "Dispatch"
    case .taskGroup: "TaskGroup"
    case .tbbTaskGroup: "TBB task_group"
    case .tbbFlowGraph: "TBB flow graph"
    }
  }
}
