// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An asynchronous operation of a program, in the careful style: flags of its own, announced while
/// no lock is held, and the base class's `cancel()`.
final class SteeredAsynchronous: Operation, SteeredByProgram, @unchecked Sendable {
  private enum Phase { case pending, executing, finished }

  private let role: Role
  private let phase = Monitored(Phase.pending)

  init(_ role: Role) {
    self.role = role
    super.init()
  }

  deinit { role.wasDestroyed() }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { phase.value == .executing }
  override var isFinished: Bool { phase.value == .finished }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(forKey: "isExecuting")
    let endsByItself = phase.change { phase in
      if phase == .finished { return false }
      phase = .executing
      // Under the lock, so that nobody can report the end before the beginning.
      return role.reports.begin(role.index, keeping: self)
    }
    didChangeValue(forKey: "isExecuting")
    if endsByItself { role.finishSomewhere(self) }
  }

  func finish() {
    guard phase.value != .finished else { return }
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    let before = phase.change { phase in
      defer { phase = .finished }
      return phase
    }
    if before == .executing { role.reports.end(role.index) }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}
