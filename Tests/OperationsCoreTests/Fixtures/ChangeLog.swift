// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// A log of the notifications for observers of an operation, in order: `will isReady` before a change,
/// `isReady true→false` after it.
final class ChangeLog: Sendable {
  private let log = EventLog<String>()
  private let observations = Monitored<[NSKeyValueObservation]>([])

  /// Creates a log that observes every key that the operation announces, until the log is released.
  init(_ operation: Operation) {
    watch(operation, \.isReady, "isReady") { "\($0)" }
    watch(operation, \.isExecuting, "isExecuting") { "\($0)" }
    watch(operation, \.isFinished, "isFinished") { "\($0)" }
    watch(operation, \.isCancelled, "isCancelled") { "\($0)" }
    watch(operation, \.dependencies, "dependencies") { "\($0.count)" }
    watch(operation, \.queuePriority, "queuePriority") { "\($0)" }
    watch(operation, \.completionBlock, "completionBlock") { $0 == nil ? "nil" : "block" }
    watch(operation, \.qualityOfService, "qualityOfService") { "\($0)" }
    watch(operation, \.name, "name") { $0 ?? "nil" }
  }

  var events: [String] { log.events }

  /// Adds an entry that the test itself makes, between the notifications.
  func note(_ event: String) { log.note(event) }

  private func watch<Value>(
    _ operation: Operation, _ keyPath: KeyPath<Operation, Value>, _ name: String,
    _ text: @escaping @Sendable (Value) -> String
  ) {
    let observation = operation.observe(keyPath, options: [.old, .new, .prior]) { [log] _, change in
      if change.isPrior { return log.note("will \(name)") }
      let old = change.oldValue.map(text) ?? "?"
      let new = change.newValue.map(text) ?? "?"
      log.note("\(name) \(old)→\(new)")
    }
    observations.change { $0.append(observation) }
  }
}
