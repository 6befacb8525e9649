// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// What is shown, for others to read.

extension Dashboard {
  /// Asks for a file with what the view lists; of several processes for one of each.
  func export() -> [Effect] {
    guard let hello = shown.hello else { return [.bell] }
    if !shown.processes.isEmpty { return shown.processes.map { .export(frame(of: $0)) } }
    return [
      .export(
        MonitorProtocol.Frame(
          hello: hello, time: shownTime, queues: shown.queues, operations: listedOperations,
          warnings: shown.warnings, lostChanges: shown.lostChanges))
    ]
  }

  private func frame(of process: ProcessReport) -> MonitorProtocol.Frame {
    func isOwn(_ id: some NumberedByProcess) -> Bool { id.processNumber == process.number }
    return MonitorProtocol.Frame(
      hello: process.hello, time: shownTime, queues: shown.queues.filter { isOwn($0.id) },
      operations: listedOperations.filter { isOwn($0.id) },
      warnings: shown.warnings.filter { $0.process == process.number },
      lostChanges: process.lostChanges
    ).withinProcess
  }

  /// Says in one sentence where the file is, or why there is none.
  mutating func announce(_ result: ExportResult) {
    switch result {
    case .written(let count, let fileName):
      let noun = count == 1 ? "operation" : "operations"
      let others = live.processes.isEmpty ? "" : ", a file for each process"
      show("exported \(CountText.text(count)) \(noun) to \(fileName)\(others)")
    case .failed(let reason):
      show("not exported: \(reason)", isWarning: true)
    }
  }

  /// The one operation that is shown alone, or those that the view is about: with those of the tree
  /// that are folded or drawn as one row, and in the views that list no operations all that are known
  /// here.
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
