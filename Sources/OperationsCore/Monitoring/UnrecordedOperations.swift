// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Finds the operations in a queue that have no record while a collector records. Guarded by the
/// queue's lock.
///
/// If a queue adds operations faster than its collector reads, the search costs the queue a few
/// instructions for each operation.
struct UnrecordedOperations {
  /// The first operation in the queue that may have no record. All operations before it have a
  /// record.
  private(set) var first: Unmanaged<Operation>?
  /// Executing operations without a record. Each operation is stored at the index that is computed
  /// from its address, if that index is free. A long-running operation is therefore reported soon,
  /// even if many operations are before it in the queue.
  private var running = InlineArray<32, Unmanaged<Operation>?>(repeating: nil)
  /// The number of state changes of operations without a record since the last reading.
  private var lostSteps = 0

  /// Creates a search that begins with the first operation in the queue.
  init(first: Unmanaged<Operation>? = nil) { self.first = first }

  /// Records that an operation without a record has moved to another stage: waiting, ready,
  /// executing or finished.
  @inline(__always)
  mutating func didMove(
    _ operation: Operation, from old: QueuePlace.Stage, to new: QueuePlace.Stage
  ) {
    lostSteps += 1
    let place = Self.place(of: operation)
    if new == .executing {
      if running[unchecked: place] == nil { running[unchecked: place] = .passUnretained(operation) }
      return
    }
    if old == .executing, isRunning(operation, at: place) { running[unchecked: place] = nil }
    if old == .outside, first == nil { first = .passUnretained(operation) }
    if new == .lingering { didLeave(operation) }
  }

  /// Handles that an operation, with or without a record, has left the queue. The links of the
  /// operation still lead to its former neighbours in the queue.
  @inline(__always)
  mutating func didLeave(_ operation: Operation) {
    if first?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
      first = operation.neighbours.inQueue.next
    }
  }

  /// Handles that an operation has a record from now on.
  mutating func forget(_ operation: Operation) {
    let place = Self.place(of: operation)
    if isRunning(operation, at: place) { running[unchecked: place] = nil }
  }

  /// Returns the number of unrecorded state changes since the last call.
  mutating func takeLostSteps() -> Int {
    defer { lostSteps = 0 }
    return lostSteps
  }

  /// Removes and returns the executing operations without a record. The caller must create records
  /// for them.
  mutating func takeRunning() -> [Operation] {
    var found: [Operation] = []
    for place in running.indices {
      if let operation = running[place].take() { found.append(operation.takeUnretainedValue()) }
    }
    return found
  }

  /// Returns the next operation that may have no record, in the order of the queue.
  mutating func takeNext() -> Operation? {
    guard let operation = first?.takeUnretainedValue() else { return nil }
    first = operation.neighbours.inQueue.next
    return operation
  }

  @inline(__always)
  private func isRunning(_ operation: Operation, at place: Int) -> Bool {
    running[unchecked: place]?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
  }

  @inline(__always)
  private static func place(of operation: Operation) -> Int {
    // The index is computed from the address of the operation. The shift drops the low bits of the
    // address, because operations are several hundred bytes apart. The mask makes the index smaller
    // than the capacity.
    Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque()) >> 6 & 31
  }
}
