// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import TestSupport
import Testing

@Suite("An observer that overrides observeValue, as below NSObject on Apple's platforms")
struct ObserverObjectTests {
  private final class Watcher: ObserverObject {
    let log = EventLog<String>()

    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      log.note("\(keyPath ?? "") \(change?[.newKey] ?? "nothing")")
    }
  }

  @Test("It receives changes of operations and queues until it is removed or released")
  func observes() {
    let operation = Operation()
    let queue = OperationQueue()
    var watcher: Watcher? = Watcher()
    guard let log = watcher?.log else { return }
    if let watcher {
      operation.addObserver(watcher, forKeyPath: "isCancelled", options: .new, context: nil)
      operation.addObserver(watcher, forKeyPath: "queuePriority")
      queue.addObserver(watcher, forKeyPath: "maxConcurrentOperationCount", options: .new)
    }
    operation.cancel()
    operation.queuePriority = .high
    queue.maxConcurrentOperationCount = 2
    #expect(
      log.events == ["isCancelled true", "queuePriority nothing", "maxConcurrentOperationCount 2"])
    if let watcher { operation.removeObserver(watcher, forKeyPath: "queuePriority") }
    operation.queuePriority = .low
    watcher = nil
    queue.maxConcurrentOperationCount = 3
    #expect(log.events.count == 3)
  }

  @Test("It is an NSObject, and without an override it receives nothing")
  func base() {
    let observer: any NSObject & KeyValueObserver = ObserverObject()
    let operation = Operation()
    operation.addObserver(observer, forKeyPath: "isCancelled")
    operation.cancel()
    #expect(observer.isEqual(observer) && operation.isCancelled)
  }
}
