// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
@testable import OperationsCore

/// What an operation knows of the program that it is part of.
struct Role: Sendable {
  let index: Int
  let reports: Reports
  /// Wrong on purpose; see `World.Fault`.
  var runsTwice = false
  var finishesWithMain = false
  var finishesWithStart = false

  /// To be called from `deinit`.
  func wasDestroyed() { reports.note { $0.entries[index].isDestroyed = true } }

  /// The body of a synchronous operation: returns when the program lets it.
  func runBody() {
    checkSurroundings()
    if runsTwice { reports.begin(index) }
    reports.runBody(of: index)
  }

  /// Where nobody steers the program: says that the operation has finished, here or elsewhere.
  func finishSomewhere(_ operation: any SteeredByProgram) {
    if index.isMultiple(of: 2) {
      operation.finish()
    } else {
      DispatchQueue.global().async { operation.finish() }
    }
  }

  /// [BL-6, MX-10, SA-11]
  private func checkSurroundings() {
    let name = Program.name(ofOperation: index)
    let isExecuting = CurrentWork.operation.map { $0.isExecuting && !$0.isFinished } ?? false
    if !isExecuting { reports.note(violation: "\(name) does not execute while its body runs") }
    let queue = (OperationQueue.current as? SteeredQueue)?.index
    if queue != reports.snapshot.entries[index].queue {
      reports.note(violation: "the current queue in the body of \(name) is not its queue")
    }
  }
}

/// An operation that finishes when the program says so.
protocol SteeredByProgram: Operation {
  /// Says that it has finished, whatever state it is in. More than once does nothing.
  func finish()
}

/// Captured by blocks, to see that they are released.
final class CaptureProbe: Sendable {
  private let role: Role

  init(_ role: Role) { self.role = role }

  deinit {
    role.reports.note { [index = role.index] in $0.entries[index].isCaptureDestroyed = true }
  }

  func runBody() { role.runBody() }
}
