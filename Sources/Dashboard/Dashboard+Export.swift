// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Exports the operations that the dashboard shows to files.

extension Dashboard {
  /// Requests a file with the operations of the view. If several processes are watched, requests one file for
  /// each process.
  func export() -> [Effect] {
    guard let hello = shown.hello else { return [.bell] }
    let known = shown.operations
    if !shown.processes.isEmpty { return shown.processes.map { .export(frame(of: $0)) } }
    return [
      .export(
        MonitorProtocol.BatchFrame(
          hello: hello, time: shownTime, queues: shown.queues, operations: listedOperations,
          warnings: shown.warnings, lostChanges: shown.lostChanges, report: { known[$0] }))
    ]
  }

  private func frame(of process: ProcessReport) -> MonitorProtocol.BatchFrame {
    func isOwn(_ id: some NumberedByProcess) -> Bool { id.processNumber == process.number }
    let known = shown.operations
    return MonitorProtocol.BatchFrame(
      hello: process.hello, time: shownTime, queues: shown.queues.filter { isOwn($0.id) },
      operations: listedOperations.filter { isOwn($0.id) },
      warnings: shown.warnings.filter { $0.process == process.number },
      lostChanges: process.lostChanges, namesProcess: false, report: { known[$0] }
    ).withinProcess
  }

  /// Shows a sentence with the name of the exported file, or with the reason why the export failed.
  mutating func announce(_ result: ExportResult) {
    switch result {
    case .written(let count, let fileName):
      let noun = count == 1 ? "operation" : "operations"
      let sentence = "exported \(CountText.text(count)) \(noun) to \(fileName)"
      show(live.processes.isEmpty ? sentence : "\(sentence), one file per process")
    case .failed(let reason):
      show("not exported: \(reason)", isWarning: true)
    }
  }

  /// The operations to export: the operation of the detail screen, or all operations of the view. If the tree
  /// is shown, they include operations that are folded or grouped. In a view without a list of operations,
  /// they are all operations that the dashboard knows.
  private var listedOperations: [OperationReport] {
    let operations = shown.operations
    if let detail { return [operations[detail.id]].compactMap { $0 } }
    switch screen.view {
    case .operations: return list.rows.keys.compactMap { operations[$0.id] }
    case .tree: return tree?.operations(in: operations) ?? []
    case .queues, .timeline, .events: return Array(operations.all)
    }
  }
}
