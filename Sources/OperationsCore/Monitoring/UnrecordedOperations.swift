// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Finds the operations in a queue that have no record while a collector records. Guarded by the
/// queue's lock.
///
/// It costs a queue that is too quick for its collector a few instructions per operation.
struct UnrecordedOperations {
  /// The first operation in the queue that may have no record: all before it have one.
  private(set) var first: Unmanaged<Operation>?
  /// Executing operations, each at the index that its address gives, if that is free. A
  /// long-running operation is reported soon this way, however many are before it.
  private var running = InlineArray<32, Unmanaged<Operation>?>(repeating: nil)
  /// The number of their state changes.
  private var lostSteps = 0

  /// - Parameter first: The first operation in the queue.
  init(first: Unmanaged<Operation>? = nil) { self.first = first }

  /// Notes that an operation without a record has changed its stage.
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

  /// Notes that an operation, with or without a record, has left the queue. Its links still lead to
  /// its former neighbours.
  @inline(__always)
  mutating func didLeave(_ operation: Operation) {
    if first?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
      first = operation.place.inQueue.next
    }
  }

  /// Notes that an operation has a record from now on.
  mutating func forget(_ operation: Operation) {
    let place = Self.place(of: operation)
    if isRunning(operation, at: place) { running[unchecked: place] = nil }
  }

  /// Returns the number of unrecorded state changes since the last call.
  mutating func takeLostSteps() -> Int {
    defer { lostSteps = 0 }
    return lostSteps
  }

  /// Returns the executing operations, which must get records now.
  mutating func takeRunning() -> [Operation] {
    var found: [Operation] = []
    for place in running.indices {
      if let operation = running[place].take() { found.append(operation.takeUnretainedValue()) }
    }
    return found
  }

  /// Returns the next operation in the order of the queue that may have no record.
  mutating func takeNext() -> Operation? {
    guard let operation = first?.takeUnretainedValue() else { return nil }
    first = operation.place.inQueue.next
    return operation
  }

  @inline(__always)
  private func isRunning(_ operation: Operation, at place: Int) -> Bool {
    running[unchecked: place]?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
  }

  @inline(__always)
  private static func place(of operation: Operation) -> Int {
    // Objects are some hundred bytes apart. The result is always below the capacity.
    Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque()) >> 6 & 31
  }
}
