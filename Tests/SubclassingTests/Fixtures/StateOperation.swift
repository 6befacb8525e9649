// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// An asynchronous operation in the style of many tutorials: it has one property `state`. Each
/// change of the state changes two flags, and the operation announces both changes.
///
/// After it has started, it is no longer ready. It checks `isCancelled` in `start()` and again in
/// `main()`.
class StateOperation: Operation, @unchecked Sendable {
  enum State: String {
    case ready = "isReady"
    case executing = "isExecuting"
    case finished = "isFinished"
  }

  var work: @Sendable () -> Void = {}

  private let lock = NSLock()
  private var currentState = State.ready

  var state: State {
    get { lock.withLock { currentState } }
    set {
      let oldValue = state
      willChangeValue(forKey: oldValue.rawValue)
      willChangeValue(forKey: newValue.rawValue)
      lock.withLock { currentState = newValue }
      didChangeValue(forKey: oldValue.rawValue)
      didChangeValue(forKey: newValue.rawValue)
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    state = .executing
    main()
  }

  override func main() {
    if isCancelled {
      state = .finished
      return
    }
    DispatchQueue.global().async {
      self.work()
      self.state = .finished
    }
  }
}
