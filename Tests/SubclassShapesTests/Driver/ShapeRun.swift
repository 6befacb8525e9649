// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// Runs operations of one kind of subclass. Each operation has four dependents: two in its own
/// queue and two in another queue.
final class ShapeRun: Sendable {
  /// The total number of dependents in a run.
  static let dependentCount = max(100, Effort.scaled(800))

  private static let dependentsOfEach = 4

  let queue: OperationQueue
  let sightings: Sightings
  let plans: [OperationPlan]

  private let shape: Shape
  private let variant: ShapeVariant
  private let otherQueue = OperationQueue()
  private let canceller = DispatchQueue(label: "canceller")
  private let waiter = DispatchQueue(label: "waiter")

  init(
    _ shape: Shape, _ variant: ShapeVariant, dependentCount: Int = ShapeRun.dependentCount,
    seed: UInt64
  ) {
    self.shape = shape
    self.variant = variant
    var generator = SeededGenerator(seed: seed)
    plans = (0..<dependentCount / Self.dependentsOfEach).map { _ in
      OperationPlan(of: shape, in: variant, from: &generator)
    }
    sightings = Sightings(count: dependentCount)
    queue = shape.makeQueue()
    queue.maxConcurrentOperationCount = variant.width
    for (index, plan) in plans.enumerated() {
      for number in dependents(of: index) { sightings.require(.dependent, of: number) }
      sightings.require(.completion, of: index)
      if plan.cancellation == .never || shape.worksWhenCancelled {
        sightings.require(.work, of: index)
      }
      if variant.isObserved { sightings.require(.observedFinish, of: index) }
    }
  }

  /// Adds all operations and waits until all required events have happened.
  ///
  /// - Parameter limit: The maximum time in seconds.
  /// - Returns: The results.
  func report(within limit: Int) -> ShapeReport {
    // The queue is suspended while the first half of the operations is added, so that some of them
    // are cancelled before they start.
    queue.isSuspended = variant.isCancelled
    var observations: [Any] = []
    for (index, plan) in plans.enumerated() {
      if index == plans.count / 2 { queue.isSuspended = false }
      let operation = shape.make(Job(index, in: self))
      if variant.isObserved { observations += observe(operation, index) }
      prepare(operation, index)
      add(operation, index)
      switch plan.cancellation {
      case .never, .beforeAdding, .duringWork: break
      case .afterAdding: operation.cancel()
      case .onAnotherThread: canceller.async { operation.cancel() }
      }
      if plan.isWaitedFor { waitElsewhere(for: operation, index) }
    }
    let deadline = DispatchTime.now() + .seconds(limit)
    _ = sightings.isComplete.wait(timeout: deadline)
    // The wait for empty queues has one more second, so that a missing event is not reported as a
    // queue that hangs.
    let isEmpty = becomesEmpty(before: deadline + .seconds(1))
    return withExtendedLifetime(observations) {
      ShapeReport(
        dependentCount: plans.count * Self.dependentsOfEach, isHung: !isEmpty,
        tally: sightings.value,
        leftCount: isEmpty ? queue.operationCount + otherQueue.operationCount : 0)
    }
  }

  private func becomesEmpty(before deadline: DispatchTime) -> Bool {
    let isEmpty = DispatchSemaphore(value: 0)
    startThread { [self] in
      queue.waitUntilAllOperationsAreFinished()
      otherQueue.waitUntilAllOperationsAreFinished()
      // The thread also waits for the other threads that cancel operations and that wait for
      // operations.
      canceller.sync {}
      waiter.sync {}
      isEmpty.signal()
    }
    return isEmpty.wait(timeout: deadline) == .success
  }

  private func add(_ operation: Operation, _ index: Int) {
    let dependents = dependents(of: index).map { dependent(on: operation, index, number: $0) }
    otherQueue.addOperations(Array(dependents.dropFirst(2)), waitUntilFinished: false)
    let own = Array(dependents.prefix(2))
    if plans[index].cancellation == .beforeAdding { operation.cancel() }
    let enqueue = shape.enqueue ?? { $1.addOperation($0) }
    switch plans[index].order {
    case .operationFirst:
      enqueue(operation, queue)
      for dependent in own { queue.addOperation(dependent) }
    case .dependentsFirst:
      for dependent in own { queue.addOperation(dependent) }
      enqueue(operation, queue)
    case .together:
      queue.addOperations(own + [operation], waitUntilFinished: false)
    }
  }

  /// Returns the indices of the dependents of an operation.
  private func dependents(of index: Int) -> Range<Int> {
    index * Self.dependentsOfEach..<(index + 1) * Self.dependentsOfEach
  }

  private func dependent(on operation: Operation, _ index: Int, number: Int) -> Operation {
    let dependent = BlockOperation { [self] in
      if isUnfinished(operation, index) { sightings.noteEarlyDependent() }
      sightings.note(.dependent, of: number)
    }
    dependent.addDependency(operation)
    return dependent
  }

  /// Replaces the completion block of the operation with a block that calls the existing completion
  /// block, if any, and then checks the operation.
  private func prepare(_ operation: Operation, _ index: Int) {
    let block = operation.completionBlock
    operation.completionBlock = { [weak operation, self] in
      block?()
      if let operation, isUnfinished(operation, index) { sightings.noteEarlyCompletion() }
      sightings.note(.completion, of: index)
    }
  }

  private func waitElsewhere(for operation: Operation, _ index: Int) {
    waiter.async { [self] in
      operation.waitUntilFinished()
      if isUnfinished(operation, index) { sightings.noteEarlyWait() }
    }
  }

  /// Returns whether the operation has not finished, although it must have: an event that follows
  /// the finish has happened.
  private func isUnfinished(_ operation: Operation, _ index: Int) -> Bool {
    if operation.isFinished { return false }
    return !shape.staysUnfinishedWhenSkipped || sightings.hasBegun(index)
  }

  #if CORPUS_FOUNDATION
    private func observe(_ operation: Operation, _ index: Int) -> [Any] { [] }
  #else
    private func observe(_ operation: Operation, _ index: Int) -> [Any] {
      let options: NSKeyValueObservingOptions =
        plans[index].observersWantValues ? [.old, .new, .prior] : []
      let others: [KeyPath<Operation, Bool> & Sendable] = [\.isReady, \.isExecuting, \.isCancelled]
      let finish = operation.observe(\.isFinished, options: options) { [sightings] _, change in
        if !change.isPrior { sightings.note(.observedFinish, of: index) }
      }
      return [finish] + others.map { operation.observe($0, options: options) { _, _ in } }
    }
  #endif
}
