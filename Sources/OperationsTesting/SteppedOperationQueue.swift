// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Dispatch
public import OperationsCore

/// A queue whose operations start only when a test makes a step.
///
/// Pass it to code that takes an `OperationQueue`. The code runs on the thread of the test, one operation at a
/// time, in an order that the test chooses or that a seed determines:
///
/// ```swift
/// for seed in 0..<100 as Range<UInt64> {
///   let queue = SteppedOperationQueue()
///   let report = makeReport(on: queue)
///   queue.runAll(order: .seeded(seed))
///   #expect(report.isComplete, "seed \(seed)")
/// }
/// ```
///
/// Dependencies, priorities, barriers, exclusions, delays, limits of starts, suspension and the width apply as
/// in other queues. An operation is started by a step only if such a queue could start it now.
///
/// A step is one of two things. It starts an operation on the calling thread: a synchronous operation runs to
/// its end, and an asynchronous operation runs until it awaits something or ends. Or it continues a task of an
/// asynchronous operation until the task awaits something again or ends. So the parts of asynchronous
/// operations between two awaits can come in any order too, and only one of them runs at a time. A task that
/// changes its executor may need a step for this, in which none of its own code runs.
///
/// Completion blocks, and further blocks of a `BlockOperation`, run on threads of the library. Members of a
/// `GroupOperation` run in the group's own queue, on threads of the library. The queue does not step the code of
/// other actors, or of tasks outside the queue: that code runs on its own executor. When it returns, the task of
/// the operation continues in a step.
///
/// A step must not wait, on the thread of the test, for another operation of the queue, because only a further
/// step starts it. Release a queue only after its operations have finished: call
/// `cancelAllOperations()` and ``runAll(order:)`` first.
public final class SteppedOperationQueue: OperationQueue, @unchecked Sendable {
  /// A step that was made.
  public enum Step: Equatable, Sendable {
    /// This operation was started.
    case started(Operation)
    /// The task of an operation continued.
    case continued
  }

  /// Creates a queue without operations.
  public override init() {
    super.init()
    makeStepped()
  }

  // MARK: Steps

  /// The operations that a step can start now, in the order in which the queue would start them. The array is
  /// empty if the queue is suspended, or if every slot is in use. A barrier is included if it is due.
  public var readyOperations: [Operation] { startableOperations }

  /// The number of tasks of asynchronous operations that a step can continue now.
  public var resumedTaskCount: Int { continuableTaskCount }

  /// Makes the next step in ``OperationStepOrder/queueOrder``, on the calling thread.
  ///
  /// - Returns: The step; `nil` if no step is possible.
  @discardableResult
  public func step() -> Step? {
    var chooser = StepChooser(.queueOrder)
    return step(&chooser)
  }

  /// Starts an operation, on the calling thread.
  ///
  /// - Parameter operation: An operation of the queue. It need not be the first one.
  /// - Returns: Whether the operation was started; `false` if it is not one of ``readyOperations``, or if it turns out
  ///   not to be ready, for example because an operation of another queue holds one of its exclusions.
  @discardableResult
  public func step(_ operation: Operation) -> Bool { startStep(operation) != nil }

  /// Makes steps, on the calling thread, until none is possible.
  ///
  /// Operations that wait for something outside the queue, such as a delay or an answer, may be left: see
  /// ``runUntilEmpty(order:)``.
  ///
  /// - Parameter order: The order of the steps.
  /// - Returns: The operations in the order of their starts.
  @discardableResult
  public func runAll(order: OperationStepOrder = .queueOrder) -> [Operation] {
    var chooser = StepChooser(order)
    return run(&chooser)
  }

  /// Makes steps until the queue is empty, and waits without blocking a thread if no step is possible.
  ///
  /// The call also returns if the calling task is cancelled.
  ///
  /// - Parameter order: The order of the steps. If the queue waits for something outside, the order also
  ///   depends on the time at which this happens.
  /// - Returns: The operations in the order of their starts.
  @discardableResult
  public func runUntilEmpty(order: OperationStepOrder = .queueOrder) async -> [Operation] {
    var chooser = StepChooser(order)
    var started: [Operation] = []
    while true {
      started += run(&chooser)
      if !hasUnfinishedWork || Task.isCancelled { return started }
      await waitForStep()
    }
  }

  /// Waits until a step is possible or the queue is empty, for example after a ``TestClock`` was advanced.
  ///
  /// The operations of a delay that has ended become ready on another thread, a moment later. The call also
  /// returns if the calling task is cancelled.
  public func waitUntilReady() async { await waitForStep() }

  private func run(_ chooser: inout StepChooser) -> [Operation] {
    var started: [Operation] = []
    while let step = step(&chooser) {
      if case .started(let operation) = step { started.append(operation) }
    }
    return started
  }

  private func step(_ chooser: inout StepChooser) -> Step? {
    while true {
      let taskCount = continuableTaskCount
      let operations = startableOperations
      guard taskCount + operations.count > 0 else { return nil }
      let index = chooser.choose(from: taskCount + operations.count)
      if index < taskCount { return continueTask(at: index) ? .continued : nil }
      if let started = startStep(operations[index - taskCount]) { return .started(started) }
      // The operation is not ready after all, and is no longer one of the operations to choose from.
    }
  }

  // MARK: Members of OperationQueue

  /// Makes steps in the queue's order until none is possible, and then blocks until the queue is empty.
  @available(
    *, noasync,
    message: "Blocks a thread. In an asynchronous function, call `await runUntilEmpty()`"
  )
  public override func waitUntilAllOperationsAreFinished() {
    runAll()
    super.waitUntilAllOperationsAreFinished()
  }

  /// Adds operations. If the caller waits for them, makes steps in the queue's order until none is possible,
  /// and then blocks until they have finished.
  @available(*, noasync, message: "May block a thread. Call `addOperations(_:)`")
  public override func addOperations(_ operations: [Operation], waitUntilFinished waits: Bool) {
    super.addOperations(operations, waitUntilFinished: false)
    guard waits else { return }
    runAll()
    for operation in operations { operation.waitUntilFinished() }
  }

  /// The dispatch queue of the operations, which is always `nil`. Setting it has no effect.
  public override var underlyingQueue: DispatchQueue? {
    get { nil }
    set {}
  }
}
