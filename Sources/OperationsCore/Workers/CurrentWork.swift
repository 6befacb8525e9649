// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// What the calling thread is doing: which operation it runs, and for which queue.
enum CurrentWork {
  /// Lives on the stack of the thread that it describes.
  struct Frame {
    /// The operation that runs; that of the innermost `start()`.
    var operation: Unmanaged<Operation>?
    /// The queue whose worker this thread is, and which it keeps alive.
    var servedQueue: Unmanaged<QueueCore>?
    /// Whether all of this runs on the main dispatch queue, or on one that targets it.
    var isOnMainQueue = false
    /// Whether `operation` has run, and this thread releases what it no longer needs.
    ///
    /// The operation holds its slot until that is done, because most releases run none of the user's code
    /// and a critical section more would cost too much. A `deinit` that waits for an operation or for a
    /// queue retires the operation first: see ``CurrentWork/retireWhatHasRun()``.
    var isReleasing = false
    /// The operation that was retired in that way, which this thread keeps alive.
    var retired: Unmanaged<Operation>?
    /// Whether this worker holds its next operation, or counts as searching: nothing of the user's may
    /// run.
    var isBetweenOperations = false
    /// What this thread was doing when it began with this, and goes back to.
    var outer: UnsafeMutablePointer<Frame>?

    init(
      operation: Unmanaged<Operation>? = nil, servedQueue: Unmanaged<QueueCore>? = nil,
      isOnMainQueue: Bool = false
    ) {
      self.operation = operation
      self.servedQueue = servedQueue
      self.isOnMainQueue = isOnMainQueue
    }
  }

  static var frame: UnsafeMutablePointer<Frame>? {
    csystem_current_worker()?.assumingMemoryBound(to: Frame.self)
  }

  static var operation: Operation? { frame?.pointee.operation?.takeUnretainedValue() }
  /// The operations that this thread is inside of, the innermost first.
  static var operations: [Operation] {
    var operations: [Operation] = []
    var current = frame
    while let frame = current {
      if let operation = frame.pointee.operation {
        operations.append(operation.takeUnretainedValue())
      }
      current = frame.pointee.outer
    }
    return operations
  }

  /// Whether this thread is inside of the operation, or of others that this one runs inside of it.
  static func isInside(_ operation: Operation) -> Bool {
    let address = Unmanaged.passUnretained(operation).toOpaque()
    return isInside { $0.operation?.toOpaque() == address }
  }

  /// Whether this thread is inside of an operation of the queue.
  static func isInsideOperation(of queue: QueueCore) -> Bool {
    let address = Unmanaged.passUnretained(queue).toOpaque()
    return isInside { $0.operation != nil && $0.servedQueue?.toOpaque() == address }
  }

  private static func isInside(_ matches: (Frame) -> Bool) -> Bool {
    var current = frame
    while let frame = current {
      if matches(frame.pointee) { return true }
      current = frame.pointee.outer
    }
    return false
  }

  static var isOnMainQueue: Bool { frame?.pointee.isOnMainQueue == true }
  static var servedQueue: QueueCore? { frame?.pointee.servedQueue?.takeUnretainedValue() }

  /// Runs `body`, which releases what the operation of this thread no longer needs.
  static func releasing(_ frame: UnsafeMutablePointer<Frame>, _ body: () -> Void) {
    frame.pointee.isReleasing = true
    body()
    frame.pointee.isReleasing = false
  }

  /// Retires each operation of this thread that has run and whose slot is held only until it has been
  /// released; before this thread waits.
  static func retireWhatHasRun() {
    var current = frame
    while let frame = current {
      retireWhatHasRun(frame)
      current = frame.pointee.outer
    }
  }

  private static func retireWhatHasRun(_ frame: UnsafeMutablePointer<Frame>) {
    guard frame.pointee.isReleasing, let queue = frame.pointee.servedQueue,
      let operation = frame.pointee.operation
    else { return }
    frame.pointee.isReleasing = false
    frame.pointee.operation = nil
    frame.pointee.retired = operation.retain()
    let forgotten = operation._withUnsafeGuaranteedRef { $0.takeForgottenDependencies() }
    FinishedBlock(operation).finishTelling()
    queue._withUnsafeGuaranteedRef { $0.retire(operation.takeUnretainedValue()) }
    operation._withUnsafeGuaranteedRef { $0.release(forgotten) }
  }

  /// Gives up the operation that was retired in that way.
  @inline(never)
  static func releaseRetired(_ frame: UnsafeMutablePointer<Frame>) {
    frame.pointee.retired.take()?.release()
  }

  /// Whether this thread is a worker that holds its next operation, or counts as searching.
  static var isBetweenOperations: Bool { frame?.pointee.isBetweenOperations == true }

  /// Makes `frame` this thread's while `body` runs.
  static func withFrame<Result>(
    _ frame: inout Frame, _ body: (UnsafeMutablePointer<Frame>) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &frame) { pointer in
      let before = csystem_current_worker()
      pointer.pointee.outer = before?.assumingMemoryBound(to: Frame.self)
      csystem_set_current_worker(pointer)
      defer { csystem_set_current_worker(before) }
      return body(pointer)
    }
  }

  /// Runs `body` as work of `operation` for the queue, on a thread that does nothing else.
  static func run(_ operation: Operation, for queue: OperationQueue?, _ body: () -> Void) {
    var frame = Frame(
      operation: .passUnretained(operation), servedQueue: queue.map { .passUnretained($0.core) })
    withFrame(&frame) { _ in body() }
    withExtendedLifetime(queue) {}
  }

  /// Runs `body` as work of `operation`, inside whatever this thread does.
  static func run<Result>(_ operation: Operation, _ body: () -> Result) -> Result {
    guard let frame else {
      var own = Frame(operation: .passUnretained(operation))
      return withFrame(&own) { _ in body() }
    }
    // As it is where a queue has started it.
    if frame.pointee.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
      return body()
    }
    var own = Frame(
      operation: .passUnretained(operation), servedQueue: frame.pointee.servedQueue,
      isOnMainQueue: frame.pointee.isOnMainQueue)
    return withFrame(&own) { _ in body() }
  }
}
