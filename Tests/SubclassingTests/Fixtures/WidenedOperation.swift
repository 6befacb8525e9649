// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations

/// An asynchronous operation that overrides the flags of the base class with settable properties.
/// Setting such a property announces the change of the flag.
///
/// It stops executing before it finishes, so for a moment it is neither executing nor finished.
class WidenedOperation: Operation, @unchecked Sendable {
  var work: @Sendable () -> Void = {}

  private let lock = NSLock()
  private var executing = false
  private var finished = false

  override var isExecuting: Bool {
    get { lock.withLock { executing } }
    set {
      willChangeValue(forKey: "isExecuting")
      lock.withLock { executing = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }

  override var isFinished: Bool {
    get { lock.withLock { finished } }
    set {
      willChangeValue(forKey: "isFinished")
      lock.withLock { finished = newValue }
      didChangeValue(forKey: "isFinished")
    }
  }

  override var isAsynchronous: Bool { true }

  override func start() {
    guard !isCancelled else {
      isFinished = true
      return
    }
    isExecuting = true
    DispatchQueue.global().async {
      self.work()
      self.isExecuting = false
      self.isFinished = true
    }
  }
}
