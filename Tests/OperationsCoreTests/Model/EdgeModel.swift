// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A model of the dependencies and dependents of operations, and of the order in which a queue with one slot
/// executes the operations. The queue is suspended until ``runAll()``.
struct EdgeModel {
  struct Item {
    var dependencies: [Int] = []
    /// The unfinished dependencies that the operation waits for.
    var awaited: Set<Int> = []
    /// The operations that wait for this operation, in the order in which they began to depend on it.
    var dependents: [Int] = []
    var isFinished = false
    var isCancelled = false
    var isEnqueued = false

    var isReady: Bool { awaited.isEmpty || isCancelled || isFinished }
  }

  private(set) var items: [Item]
  /// The operations of the queue that are ready, in the order in which they became ready.
  private var ready: [Int] = []
  /// The operations that have run, in order.
  private(set) var runs: [Int] = []

  init(count: Int) { items = Array(repeating: Item(), count: count) }

  /// Adds a dependency. [DE-3 to DE-6]
  mutating func depend(_ index: Int, on other: Int) {
    guard !items[index].dependencies.contains(other) else { return }
    items[index].dependencies.append(other)
    guard !items[index].isFinished, !items[index].isCancelled, !items[other].isFinished else {
      return
    }
    items[index].awaited.insert(other)
    items[other].dependents.append(index)
    evaluate(index)
  }

  /// Removes a dependency. [DE-9, DE-10]
  mutating func undepend(_ index: Int, from other: Int) {
    items[index].dependencies.removeAll { $0 == other }
    guard items[index].awaited.remove(other) != nil else { return }
    items[other].dependents.removeAll { $0 == index }
    evaluate(index)
  }

  /// Cancels an operation, which then precedes all operations that are not cancelled. [CA-4, CA-6]
  mutating func cancel(_ index: Int) {
    guard !items[index].isCancelled, !items[index].isFinished else { return }
    items[index].isCancelled = true
    ready.removeAll { $0 == index }
    evaluate(index)
  }

  /// Adds an operation to the queue.
  mutating func add(_ index: Int) {
    items[index].isEnqueued = true
    evaluate(index)
  }

  /// Starts an operation that is ready and not in the queue.
  mutating func start(_ index: Int) {
    if !items[index].isCancelled { runs.append(index) }
    finish(index)
  }

  /// Removes an operation that no longer exists. [DE-14]
  mutating func destroy(_ index: Int) {
    for other in items[index].awaited { items[other].dependents.removeAll { $0 == index } }
    items[index] = Item()
    items[index].isFinished = true
  }

  /// Executes the operations of the queue. [PR-3]
  mutating func runAll() {
    while let next = ready.first(where: { items[$0].isCancelled }) ?? ready.first {
      ready.removeAll { $0 == next }
      start(next)
    }
  }

  private mutating func finish(_ index: Int) {
    items[index].isFinished = true
    let dependents = items[index].dependents
    items[index].dependents = []
    for dependent in dependents {
      items[dependent].awaited.remove(index)
      evaluate(dependent)
    }
  }

  /// Updates the position of an operation in the queue after its readiness may have changed.
  private mutating func evaluate(_ index: Int) {
    guard items[index].isEnqueued, !items[index].isFinished else { return }
    let isListed = ready.contains(index)
    if items[index].isReady, !isListed { ready.append(index) }
    if !items[index].isReady, isListed { ready.removeAll { $0 == index } }
  }
}
