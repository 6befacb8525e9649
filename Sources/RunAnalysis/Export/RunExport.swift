// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// A run in a format that another program reads.
package protocol RunExport {
  /// Writes the whole export, piece by piece.
  func write<Failure: Error>(to output: (String) throws(Failure) -> Void) throws(Failure)
}

/// The formats of exports.
package enum ExportFormat: String, CaseIterable {
  /// The format for Perfetto and the tracing pages of browsers.
  case chromeTrace = "chrome-trace"
  /// The format for Graphviz.
  case dot
  /// A table for all other programs, in the format of RFC 4180.
  case csv

  /// Returns an export of the run in this format.
  package func export(_ run: ExportedRun) -> any RunExport {
    switch self {
    case .chromeTrace: ChromeTrace(run)
    case .dot: DependencyGraphDOT(run)
    case .csv: OperationsCSV(run)
    }
  }
}

/// The part of a run that an export contains.
package struct ExportedRun {
  package let history: RunHistory
  /// The exported operations, sorted by id.
  package let operations: [OperationReport]
  /// The ids of the exported operations.
  package let ids: Set<OperationReport.ID>
  /// The critical path of the run; `nil` if no operation has finished.
  package let path: CriticalPath?
  package let pathOperations: Set<OperationReport.ID>
  /// What cancelled the exported operations, as sentences; without operations whose cause is unknown.
  package let cancellations: [OperationReport.ID: String]

  /// Selects the operations of a run that are exported.
  ///
  /// - Parameters:
  ///   - history: The history of the run.
  ///   - filter: The filter that selects the operations; `nil` for all operations.
  package init(_ history: RunHistory, filter: OperationFilter? = nil) {
    self.history = history
    operations = history.operations.values.filter { report in
      filter?.matches(report, queueName: history.name(of: report.queue), at: history.end) ?? true
    }.sorted { $0.id < $1.id }
    ids = Set(operations.map(\.id))
    path = CriticalPath(of: history)
    pathOperations = Set(path?.operations ?? [])
    var texts = CancellationText(queueName: { history.name(of: $0) }) { history.operations[$0] }
    cancellations = operations.reduce(into: [:]) { $0[$1.id] = texts.sentence(about: $1) }
  }
}
