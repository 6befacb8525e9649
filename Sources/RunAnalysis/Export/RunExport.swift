// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// A run in a form that another program reads.
package protocol RunExport {
  /// Writes the whole run, piece by piece.
  func write<Failure: Error>(to output: (String) throws(Failure) -> Void) throws(Failure)
}

/// The forms of an export.
package enum ExportFormat: String, CaseIterable {
  /// For Perfetto and the browsers' tracing pages.
  case chromeTrace = "chrome-trace"
  /// For Graphviz.
  case dot
  /// For all other programs: RFC 4180.
  case csv

  /// Returns the run in this form.
  package func export(_ run: ExportedRun) -> any RunExport {
    switch self {
    case .chromeTrace: ChromeTrace(run)
    case .dot: DependencyGraphDOT(run)
    case .csv: OperationsCSV(run)
    }
  }
}

/// The exported part of a run.
package struct ExportedRun {
  package let history: RunHistory
  /// The operations, by id.
  package let operations: [OperationReport]
  /// Their ids.
  package let ids: Set<OperationReport.ID>
  /// `nil` if no operation has finished.
  package let path: CriticalPath?
  package let pathOperations: Set<OperationReport.ID>

  /// Selects operations of a run.
  ///
  /// - Parameters:
  ///   - history: The run.
  ///   - filter: The filter of the operations; `nil` for all.
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
