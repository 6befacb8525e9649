// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// A program that was written for Apple platforms. Only one line was changed: it imports OperationsFoundation
// in place of Foundation. Dates, formatters and notifications still come from Foundation. Operations and
// queues come from this library.

import OperationsFoundation

/// An operation that sums the square roots of some numbers. The class was written for `Foundation.Operation`.
final class Sum: Operation, @unchecked Sendable {
  private let numbers: [Double]
  private(set) var result = 0.0

  init(_ numbers: [Double]) {
    self.numbers = numbers
    super.init()
  }

  override func main() {
    for number in numbers where !isCancelled { result += number.squareRoot() }
  }
}

/// Overrides `observeValue`, as a subclass of `NSObject` does on Apple platforms.
final class Watcher: ObserverObject {
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let queue = object as? OperationQueue else { return }
    print(
      "\(keyPath ?? ""): \(queue.name ?? ""), \(change?[.oldKey] ?? "") → \(change?[.newKey] ?? "")"
    )
  }
}

let queue = OperationQueue()
queue.name = "sums"
let watcher = Watcher()
queue.addObserver(watcher, forKeyPath: "maxConcurrentOperationCount", options: [.old, .new])
queue.maxConcurrentOperationCount = 2

// Sets the total of the progress to the number of operations. After that, each operation that finishes counts
// as one completed unit.
let sums = (0..<4).map { part in Sum((0..<1_000).map { Double(part * 1_000 + $0) }) }
queue.progress.totalUnitCount = Int64(sums.count)
let observation = sums[0].observe(\.isFinished, options: .new) { _, change in
  print("the first sum is finished: \(change.newValue == true)")
}
queue.addOperations(sums, waitUntilFinished: true)
observation.invalidate()

let total = sums.reduce(0) { $0 + $1.result }
print("total: \(String(format: "%.2f", total)), progress: \(queue.progress.fractionCompleted)")

// The property `foundationQueue` is a Foundation queue that forwards everything to the queue of this library.
// Pass it to interfaces that need Foundation's queue.
let name = Notification.Name("SumsAreComplete")
let token = NotificationCenter.default.addObserver(
  forName: name, object: nil, queue: queue.foundationQueue
) { notification in
  print("\(notification.name.rawValue); received in \(OperationQueue.current?.name ?? "no queue")")
}
NotificationCenter.default.post(name: name, object: nil)
queue.waitUntilAllOperationsAreFinished()
NotificationCenter.default.removeObserver(token)
