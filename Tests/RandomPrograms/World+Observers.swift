// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension World {
  /// Observes the flags of an operation, and records each new value that the observers receive.
  static func observe(_ operation: Operation, _ role: Role) -> [NSKeyValueObservation] {
    func observe(
      _ flag: KeyPath<Operation, Bool>,
      _ append: @escaping @Sendable (inout ReportedFlags, Bool) -> Void
    ) -> NSKeyValueObservation {
      operation.observe(flag, options: [.new]) { _, change in
        guard let value = change.newValue else {
          return role.reports.note(violation: "an observer received no value")
        }
        role.reports.note { append(&$0.entries[role.index].reported, value) }
      }
    }
    return [
      observe(\.isReady) { $0.isReady.append($1) },
      observe(\.isExecuting) { $0.isExecuting.append($1) },
      observe(\.isFinished) { $0.isFinished.append($1) },
      observe(\.isCancelled) { $0.isCancelled.append($1) },
    ]
  }

  /// A text for each observer whose last received value differs from the present state, although no
  /// event is pending.
  var staleObservers: [String] {
    var findings: [String] = []
    let entries = reports.snapshot.entries
    for index in program.operations.indices where program.operations[index].isObserved {
      guard let operation = operation(index) else { continue }
      let reported = entries[index].reported
      let name = Program.name(ofOperation: index)
      func check(_ flag: String, _ reported: [Bool], _ initially: Bool, _ now: Bool) {
        if reported.last ?? initially != now {
          findings.append("observers of \(name).\(flag) received \(reported), and it is \(now)")
        }
      }
      // An operation that finishes before its start becomes ready, but observers of `isReady` are
      // not notified. [K-15]
      if !operation.isFinished { check("isReady", reported.isReady, true, operation.isReady) }
      check("isExecuting", reported.isExecuting, false, operation.isExecuting)
      check("isFinished", reported.isFinished, false, operation.isFinished)
      check("isCancelled", reported.isCancelled, false, operation.isCancelled)
    }
    return findings
  }

  /// A text for each observer that has received repeated or wrong notifications of an operation
  /// that has ended. [K-1 to K-6]
  var wrongObservers: [String] {
    var findings: [String] = []
    for (index, entry) in reports.snapshot.entries.enumerated() {
      let item = program.operations[index]
      // If a subclass announces changes itself, the library cannot control the number of
      // notifications.
      guard item.isObserved, !item.kind.isAsynchronous else { continue }
      let isUsed = entry.queue != nil || entry.isStartedByHand
      let reported = entry.reported
      let isFine =
        reported.isExecuting == (entry.beginCount > 0 ? [true, false] : [])
        && (reported.isFinished == [true] || reported.isFinished == [] && !isUsed)
        && (reported.isCancelled == [] || reported.isCancelled == [true] && entry.mayNotRun)
      if !isFine {
        findings.append("the observers of \(Program.name(ofOperation: index)) received \(reported)")
      }
    }
    return findings
  }
}
