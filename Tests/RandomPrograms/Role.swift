// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore

/// The connection of an operation to its random program: the index of the operation, and the
/// reports of the program's run.
struct Role: Sendable {
  let index: Int
  let reports: Reports
  /// Whether the operation has a certain deliberate fault. `World.Fault` lists the faults.
  var runsTwice = false
  var finishesWithMain = false
  var finishesWithStart = false
  var ignoresCondition = false

  /// Reports that the operation was deallocated. The operation's `deinit` must call this function.
  func wasDestroyed() { reports.note { $0.entries[index].isDestroyed = true } }

  /// Runs the body of a synchronous operation, which returns when the program releases it.
  func runBody() {
    checkSurroundings()
    if runsTwice { reports.begin(index) }
    reports.runBody(of: index)
  }

  /// Finishes the operation on the calling thread or on another one. The method is called if no
  /// step of the program finishes the operation.
  func finishSomewhere(_ operation: any SteeredByProgram) {
    if index.isMultiple(of: 2) {
      operation.finish()
    } else {
      DispatchQueue.global().async { operation.finish() }
    }
  }

  /// Checks the state and the current queue of the executing operation. [BL-6, MX-10, SA-11]
  private func checkSurroundings() {
    let name = Program.name(ofOperation: index)
    let isExecuting =
      Operation.executedByThisThread.map { $0.isExecuting && !$0.isFinished } ?? false
    if !isExecuting { reports.note(violation: "\(name) does not execute while its body runs") }
    let queue = (OperationQueue.current as? SteeredQueue)?.index
    if queue != reports.snapshot.entries[index].queue {
      reports.note(violation: "the current queue in the body of \(name) is not its queue")
    }
  }
}

/// An operation of a random program. It reports its deallocation.
class SteeredOperation: Operation, @unchecked Sendable {
  final let role: Role

  init(_ role: Role) { self.role = role }

  deinit { role.wasDestroyed() }
}

/// An operation that finishes when the program requests it.
protocol SteeredByProgram: Operation {
  /// Finishes the operation in any state. Further calls have no effect.
  func finish()
}

/// An object that the blocks of operations capture. Its deallocation shows that a block was
/// released.
final class CaptureProbe: Sendable {
  private let role: Role

  init(_ role: Role) { self.role = role }

  deinit {
    role.reports.note { [index = role.index] in $0.entries[index].isCaptureDestroyed = true }
  }

  func runBody() { role.runBody() }
}
