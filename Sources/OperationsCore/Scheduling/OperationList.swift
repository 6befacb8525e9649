// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Reads and writes the links of an operation for one kind of list: all operations of a queue, or
/// the ready operations of one priority.
protocol OperationListLinks {
  static func get(_ operation: Operation) -> QueueNeighbours.Pair
  static func set(_ operation: Operation, _ neighbours: QueueNeighbours.Pair)
  static func setPrevious(_ operation: Operation, _ previous: Unmanaged<Operation>?)
  static func setNext(_ operation: Operation, _ next: Unmanaged<Operation>?)
}

/// The links of an operation in the list of all operations of its queue.
enum QueueLinks: OperationListLinks {
  static func get(_ operation: Operation) -> QueueNeighbours.Pair { operation.neighbours.inQueue }
  static func set(_ operation: Operation, _ neighbours: QueueNeighbours.Pair) {
    operation.neighbours.inQueue = neighbours
  }
  static func setPrevious(_ operation: Operation, _ previous: Unmanaged<Operation>?) {
    operation.neighbours.inQueue.previous = previous
  }
  static func setNext(_ operation: Operation, _ next: Unmanaged<Operation>?) {
    operation.neighbours.inQueue.next = next
  }
}

/// The links of an operation in its band, which is a list of ready operations of one priority.
enum BandLinks: OperationListLinks {
  static func get(_ operation: Operation) -> QueueNeighbours.Pair { operation.neighbours.inBand }
  static func set(_ operation: Operation, _ neighbours: QueueNeighbours.Pair) {
    operation.neighbours.inBand = neighbours
  }
  static func setPrevious(_ operation: Operation, _ previous: Unmanaged<Operation>?) {
    operation.neighbours.inBand.previous = previous
  }
  static func setNext(_ operation: Operation, _ next: Unmanaged<Operation>?) {
    operation.neighbours.inBand.next = next
  }
}

/// A first-in, first-out list that links the operations directly. Operations can be added at the
/// end and removed at any place in constant time. The list needs no additional memory for each
/// operation, and does not retain operations.
struct OperationList<Links: OperationListLinks> {
  private(set) var first: Unmanaged<Operation>?
  private(set) var last: Unmanaged<Operation>?

  var isEmpty: Bool { first == nil }

  /// Adds an operation at the end of this list.
  ///
  /// - Precondition: No list with the same links contains the operation.
  @inline(__always)
  mutating func append(_ operation: Unmanaged<Operation>) {
    operation._withUnsafeGuaranteedRef {
      Links.set($0, QueueNeighbours.Pair(previous: last, next: nil))
    }
    if let last {
      last._withUnsafeGuaranteedRef { Links.setNext($0, operation) }
    } else {
      first = operation
    }
    last = operation
  }

  /// Removes an operation from this list.
  ///
  /// - Precondition: This list contains the operation.
  @inline(__always)
  mutating func remove(_ operation: Unmanaged<Operation>) {
    let neighbours = operation._withUnsafeGuaranteedRef { Links.get($0) }
    if let previous = neighbours.previous {
      previous._withUnsafeGuaranteedRef { Links.setNext($0, neighbours.next) }
    } else {
      first = neighbours.next
    }
    if let next = neighbours.next {
      next._withUnsafeGuaranteedRef { Links.setPrevious($0, neighbours.previous) }
    } else {
      last = neighbours.previous
    }
  }

  /// Returns the operation after `operation`; the first operation if `operation` is `nil`.
  func after(_ operation: Unmanaged<Operation>?) -> Unmanaged<Operation>? {
    guard let operation else { return first }
    return operation._withUnsafeGuaranteedRef { Links.get($0).next }
  }
}
