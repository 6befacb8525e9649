// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Leads to the operations in a queue that have no record while a collector keeps records. Guarded by
/// the queue's lock.
///
/// Costs a queue that is too quick for its collector a few instructions for each operation.
struct UnrecordedOperations {
  /// The first in the queue that may have none: all before it have one.
  private(set) var first: Unmanaged<Operation>?
  /// Those that run, each in the place that its address gives, if nothing else is there: one that runs
  /// long is to be known soon, however many are before it.
  private var running = InlineArray<32, Unmanaged<Operation>?>(repeating: nil)
  /// How many steps they have taken.
  private var lostSteps = 0

  /// - Parameter first: The first operation in the queue.
  init(first: Unmanaged<Operation>? = nil) { self.first = first }

  /// An operation without a record has changed its stage.
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

  /// An operation, with a record or without, has left the queue. Its links still lead to those that
  /// were its neighbours.
  @inline(__always)
  mutating func didLeave(_ operation: Operation) {
    if first?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
      first = operation.place.inQueue.next
    }
  }

  /// An operation has a record from now on.
  mutating func forget(_ operation: Operation) {
    let place = Self.place(of: operation)
    if isRunning(operation, at: place) { running[unchecked: place] = nil }
  }

  /// How many steps nobody has recorded since the last call.
  mutating func takeLostSteps() -> Int {
    defer { lostSteps = 0 }
    return lostSteps
  }

  /// The ones that run; they are to be given records now.
  mutating func takeRunning() -> [Operation] {
    var found: [Operation] = []
    for place in running.indices {
      if let operation = running[place].take() { found.append(operation.takeUnretainedValue()) }
    }
    return found
  }

  /// The next in the order of the queue that may have none.
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
    // Objects are some hundred bytes apart. Always below the number of places.
    Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque()) >> 6 & 31
  }
}
