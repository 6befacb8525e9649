// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Testing

@Suite("Queues as values")
struct QueueIdentityTests {
  @Test("Q-16: queues are equal if they are the same object, and can be keys")
  func hashing() {
    let first = OperationQueue()
    let second = OperationQueue()
    var names = [first: "first", second: "second"]
    names[first] = "again"
    #expect(names.count == 2 && names[first] == "again" && first == first && first != second)
    #expect(first.isEqual(first) && !first.isEqual(nil))
  }

  @Test("Q-16: a queue describes itself by class, number and the name that was set")
  func description() {
    let queue = NamedQueue()
    #expect("\(queue)" == "<NamedQueue \(queue.id.rawValue)>")
    queue.name = "downloads"
    #expect("\(queue)" == "<NamedQueue \(queue.id.rawValue) “downloads”>")
    #expect(queue.debugDescription.hasSuffix("{operations: 0, width: -1, suspended: false}"))
  }
}

private final class NamedQueue: OperationQueue, @unchecked Sendable {}
