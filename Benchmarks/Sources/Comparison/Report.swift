// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// A report of results as text that is also valid Markdown.
public struct Report: Sendable {
  private struct Section {
    let title: String
    let table: TextTable
  }

  private let results: Results

  /// Creates a report of results.
  public init(_ results: Results) { self.results = results }

  /// The text of all tables that have results. Before each table, a line describes its contents.
  public var text: String {
    sections.filter { !$0.table.rows.isEmpty }
      .map { "\($0.title)\n\n\($0.table.text)" }
      .joined(separator: "\n")
  }

  private var sections: [Section] {
    [
      Section(title: "What the package promises, on the machine above:", table: promises),
      Section(
        title: "Nanoseconds per operation; growth: the last figure of a row divided by the first:",
        table: times),
      Section(
        title: "Ours divided by the others' (below 1 ours is faster); growth: of ours:",
        table: ratios),
      Section(
        title: "Graphs of a million operations: ours divided by the others', and growth of ours:",
        table: graphs),
      Section(title: "Bytes for each operation that waits:", table: memory),
      Section(title: "Microseconds from adding a block until it begins:", table: starts),
      Section(title: "Milliseconds until sleepers of one second have finished:", table: sleepers),
    ]
  }

  private var promises: TextTable {
    TextTable(Promise.all.filter { $0.figure(results) != nil }, in: results)
  }

  private var graphs: TextTable {
    TextTable(Promise.graphs.filter { $0.figure(results) != nil }, in: results)
  }

  private var times: TextTable {
    let measure = Measure.nanosecondsPerOperation
    let sizes = results.sizes(measure)
    var table = TextTable(
      words: ["workload", "by"], numbers: sizes.map(Format.size) + ["growth"])
    for workload in results.workloads(measure) {
      for contender in results.contenders(workload) {
        let figures = sizes.map { results.value(workload, $0, contender).map(Format.whole) }
        let growth = results.growth(workload, contender).map(Format.ratio)
        table.add(words: [workload.rawValue, contender.title], numbers: figures + [growth])
      }
    }
    return table
  }

  private var ratios: TextTable {
    let measure = Measure.nanosecondsPerOperation
    let sizes = results.sizes(measure)
    var table = TextTable(
      words: ["workload", "ours to"], numbers: sizes.map(Format.size) + ["growth"])
    for workload in results.workloads(measure) {
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

  private var memory: TextTable {
    let measure = Measure.bytesPerOperation
    let sizes = results.sizes(measure)
    var table = TextTable(words: ["workload", "by"], numbers: sizes.map(Format.size))
    for workload in results.workloads(measure) {
      for contender in results.contenders(workload) {
        table.add(
          words: [workload.rawValue, contender.title],
          numbers: sizes.map { results.value(workload, $0, contender).map(Format.whole) })
      }
    }
    return table
  }

  private var starts: TextTable {
    let measure = Measure.nanosecondsToStart
    var table = TextTable(words: ["workload", "by"], numbers: ["p50", "p99"])
    for workload in results.workloads(measure) {
      for contender in results.contenders(workload) {
        for size in results.sizes(measure) {
          let figures = [50, 99].map {
            results.value(workload, size, contender, percent: $0)
              .map { Format.fixed($0 / 1_000, decimals: 1) }
          }
          table.add(words: [workload.rawValue, contender.title], numbers: figures)
        }
      }
    }
    return table
  }

  private var sleepers: TextTable {
    let measure = Measure.milliseconds
    let sizes = results.sizes(measure)
    var table = TextTable(
      words: ["workload", "by"], numbers: sizes.map { "\(Format.size($0)) sleepers" })
    for workload in results.workloads(measure) {
      for contender in results.contenders(workload) {
        table.add(
          words: [workload.rawValue, contender.title],
          numbers: sizes.map { results.value(workload, $0, contender).map(Format.whole) })
      }
    }
    return table
  }
}
