// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An asynchronous operation of a random program, in a common style: it has one property `phase`
/// and announces only changes of this property. Its `cancel()` calls `super` and finishes the
/// operation in any state.
final class SteeredStateful: SteeredOperation, SteeredByProgram, @unchecked Sendable {
  private enum Phase { case ready, executing, finished }

  private struct State {
    var phase = Phase.ready
    /// Whether the operation has reported that it began. If it has not, it does not report its end
    /// either.
    var hasReported = false
  }

  private let state = Monitored(State())

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    ["isReady", "isExecuting", "isFinished"].contains(key) ? ["phase"] : []
  }

  override var isAsynchronous: Bool { true }
  override var isReady: Bool { super.isReady && state.value.phase == .ready }
  override var isExecuting: Bool { state.value.phase == .executing }
  override var isFinished: Bool { state.value.phase == .finished }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(forKey: "phase")
    state.change { if $0.phase == .ready { $0.phase = .executing } }
    didChangeValue(forKey: "phase")
    // The operation reports that it has begun after the queue was notified. It does so while it
    // holds the lock, so that it cannot report its end first.
    let endsByItself = state.change { state in
      if state.phase == .finished { return false }
      state.hasReported = true
      return role.reports.begin(role.index, keeping: self)
    }
    if endsByItself { role.finishSomewhere(self) }
  }

  override func cancel() {
    super.cancel()
    finish()
  }

  func finish() {
    if state.value.phase == .finished { return }
    willChangeValue(forKey: "phase")
    // The operation reports its end while it holds the lock, so that no thread sees its finish before the report.
    state.change { state in
      if state.hasReported { role.reports.end(role.index) }
      state = State(phase: .finished)
    }
    didChangeValue(forKey: "phase")
  }
}
