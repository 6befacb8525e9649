// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// An operation like ``StateOperation``, but the class declares that its flags depend on `state`.
/// So the operation announces only changes of `state`.
class DerivedStateOperation: Operation, @unchecked Sendable {
  enum State {
    case ready, executing, finished
  }

  var work: @Sendable () -> Void = {}

  private let lock = NSLock()
  private var currentState = State.ready

  var state: State {
    get { lock.withLock { currentState } }
    set {
      willChangeValue(forKey: "state")
      lock.withLock { currentState = newValue }
      didChangeValue(forKey: "state")
    }
  }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    switch key {
    case "isReady", "isExecuting", "isFinished": ["state"]
    default: super.keyPathsForValuesAffectingValue(forKey: key)
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override func start() {
    guard !isCancelled else {
      state = .finished
      return
    }
    state = .executing
    DispatchQueue.global().async {
      self.work()
      self.state = .finished
    }
  }
}
