// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// A run in the form that another program reads.
package protocol RunExport {
  /// Writes all of it, piece by piece.
  func write<Failure: Error>(to output: (String) throws(Failure) -> Void) throws(Failure)
}

/// The forms there are.
package enum ExportFormat: String, CaseIterable {
  /// For Perfetto and the browsers' tracing pages.
  case chromeTrace = "chrome-trace"
  /// For Graphviz.
  case dot
  /// For everything else: RFC 4180.
  case csv

  /// The run in this form.
  package func export(_ run: ExportedRun) -> any RunExport {
    switch self {
    case .chromeTrace: ChromeTrace(run)
    case .dot: DependencyGraphDOT(run)
    case .csv: OperationsCSV(run)
    }
  }
}

/// What of a run is written.
package struct ExportedRun {
  package let history: RunHistory
  /// By id.
  package let operations: [OperationReport]
  /// Theirs.
  package let ids: Set<OperationReport.ID>
  /// `nil` where nothing has finished.
  package let path: CriticalPath?
  package let pathOperations: Set<OperationReport.ID>

  /// Chooses from a run.
  ///
  /// - Parameters:
  ///   - history: The run.
  ///   - filter: Which operations; `nil` for all.
  package init(_ history: RunHistory, filter: OperationFilter? = nil) {
    self.history = history
    operations = history.operations.values.filter { report in
      filter?.matches(report, queueName: history.name(of: report.queue), at: history.end) ?? true
    }.sorted { $0.id < $1.id }
    ids = Set(operations.map(\.id))
    path = CriticalPath(of: history)
    pathOperations = Set(path?.operations ?? [])
  }
}
