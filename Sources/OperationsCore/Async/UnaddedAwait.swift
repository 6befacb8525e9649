// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

/// The waits of tasks for operations that were neither added to a queue nor started.
///
/// If such a wait takes longer than one second, the library reports a diagnostic, because the wait ends only if
/// the program adds the operation later. A common cause is an operation that `then` has created and that the
/// program has not added.
package enum UnaddedAwait {
  private struct Wait {
    let operation: Operation
    /// Whether the wait has been reported.
    var isReported = false
  }

  private static let waits = Locked<[UInt64: Wait]>([:])
  private static let lastNumber = Atomic<UInt64>(0)
  /// The time after which a wait is reported.
  private static let limit = DispatchTimeInterval.seconds(1)

  /// Runs `wait`, in which a task waits for the operation.
  static func watching(_ operation: Operation, _ wait: () async -> Bool) async -> Bool {
    guard operation.status.load(ordering: .acquiring).isLeftAlone else { return await wait() }
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    waits.withLock { $0[number] = Wait(operation: operation) }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) { report(number) }
    defer {
      let ended = waits.withLock { $0.removeValue(forKey: number) }
      if ended?.isReported == true { QueueRegistry.wakeCollector() }
    }
    return await wait()
  }

  /// The operations of the waits that take longer than one second. They were neither added to a queue nor
  /// started.
  package static var operations: [Operation] {
    let reported = waits.withLock { $0.filter(\.value.isReported) }
    return reported.sorted { $0.key < $1.key }.map(\.value.operation).filter {
      $0.status.load(ordering: .acquiring).isLeftAlone
    }
  }

  private static func report(_ number: UInt64) {
    guard let operation = waits.withLock({ $0[number] })?.operation,
      operation.status.load(ordering: .acquiring).isLeftAlone
    else { return }
    waits.withLock { $0[number]?.isReported = true }
    OperationDiagnostic.note(
      .awaitsOperationInNoQueue,
      "a task has waited for \(operation.description) for a second; the operation is not in a queue and "
        + "was not started. Add it to a queue")
    QueueRegistry.wakeCollector()
  }
}
