// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

@testable import OperationsCore

/// The real operations and queues of a random program, and the program's references to them.
final class World: Sendable {
  private struct WeakReferences {
    weak var operation: Operation?
    weak var queue: OperationQueue?
  }

  /// The deliberate faults of the real operations and queues. Tests use them to check that the
  /// comparison with the model detects faults.
  enum Fault: CaseIterable {
    case ignoresDependencies, ignoresWidths, losesOperations, runsTwice, keepsOperations
    case forgetsCompletionBlocks, overtakesBarriers, finishesWithMain, finishesWithStart
    case ignoresExclusions, ignoresRequirements, ignoresConditions
  }

  let program: Program
  let reports: Reports
  let fault: Fault?
  private let operations: Locked<[Operation?]>
  private let queues: Locked<[SteeredQueue?]>
  /// Weak references to block operations, which do not report their deallocation. The other
  /// operations have no weak references, and so no side table, as in normal programs.
  private let rememberedOperations: Locked<[WeakReferences]>
  private let rememberedQueues: Locked<[WeakReferences]>
  private let indices: [ObjectIdentifier: Int]
  /// Additional references to operations, so that the operations leak. They exist only if the test
  /// selects the fault `keepsOperations`.
  private let kept: [Operation]

  /// The observations of the observed operations' flags.
  private let observations: [NSKeyValueObservation]

  init(
    _ program: Program, usesDispatch: Bool = false, fault: Fault? = nil, pool: WorkerPool = .shared
  ) {
    self.program = program
    self.fault = fault
    let reports = Reports(
      exclusions: program.operations.map(\.exclusions), queueCount: program.queues.count)
    self.reports = reports
    let exclusions = Program.exclusionLimits.enumerated().map {
      MutualExclusion(name: Program.name(ofExclusion: $0), limit: $1)
    }
    let operations = program.operations.enumerated().map { index, item in
      Self.make(
        item,
        Role(
          index: index, reports: reports, runsTwice: fault == .runsTwice,
          finishesWithMain: fault == .finishesWithMain,
          finishesWithStart: fault == .finishesWithStart,
          ignoresCondition: fault == .ignoresConditions))
    }
    for (operation, item) in zip(operations, program.operations) where fault != .ignoresExclusions {
      if !item.exclusions.isEmpty {
        operation?.exclusions = Set(item.exclusions.map { exclusions[$0] })
      }
    }
    kept = fault == .keepsOperations ? operations.compactMap { $0 } : []
    if fault == .forgetsCompletionBlocks {
      for operation in operations { operation?.completionBlock = nil }
    }
    let queues = program.queues.enumerated().map { index, line in
      SteeredQueue(
        index, width: fault == .ignoresWidths ? 8 : line.width,
        onDispatch: usesDispatch && line.isOnDispatch, reports: reports, pool: pool)
    }
    observations = operations.indices.flatMap { index -> [NSKeyValueObservation] in
      guard let operation = operations[index], program.operations[index].isObserved else {
        return []
      }
      return Self.observe(operation, Role(index: index, reports: reports))
    }
    var indices: [ObjectIdentifier: Int] = [:]
    for (index, operation) in operations.enumerated() {
      if let operation { indices[ObjectIdentifier(operation)] = index }
    }
    self.indices = indices
    rememberedOperations = Locked(
      operations.map { WeakReferences(operation: $0 is BlockOperation ? $0 : nil) })
    rememberedQueues = Locked(queues.map { WeakReferences(queue: $0) })
    self.operations = Locked(operations)
    self.queues = Locked(queues)
  }

  private static func make(_ item: Program.Item, _ role: Role) -> Operation? {
    let operation: Operation
    switch item.kind {
    case .block:
      let probe = CaptureProbe(role)
      operation = BlockOperation { probe.runBody() }
    case .plain: operation = SteeredPlain(role)
    case .asynchronous: operation = SteeredAsynchronous(role)
    case .late: operation = SteeredLate(role)
    case .lingering: operation = SteeredLingering(role)
    case .selfFinishing: operation = SteeredSelfFinishing(role)
    case .stateful: operation = SteeredStateful(role)
    case .conditional: operation = SteeredConditional(role, heedsDependencies: true)
    case .oblivious: operation = SteeredConditional(role, heedsDependencies: false)
    case .barrier: return nil
    }
    if item.hasCompletionBlock {
      operation.completionBlock = {
        role.reports.note { $0.entries[role.index].completionCount += 1 }
      }
    }
    return operation
  }

  // MARK: References

  /// Returns the operation; `nil` if the program has released its reference.
  func operation(_ index: Int) -> Operation? { operations.withLock { $0[index] } }

  /// Returns the queue; `nil` if the program has released its reference.
  func queue(_ index: Int) -> SteeredQueue? { queues.withLock { $0[index] } }

  /// Returns the queue; `nil` if the queue no longer exists.
  func livingQueue(_ index: Int) -> OperationQueue? {
    rememberedQueues.withLock { $0[index].queue }
  }

  /// Returns the index of an operation of the program; `nil` for other operations.
  func index(of operation: Operation) -> Int? {
    operation is OvertakingBlock ? nil : indices[ObjectIdentifier(operation)]
  }

  /// Returns whether the operation was destroyed. Barriers, which programs cannot access, count as
  /// not destroyed.
  func isDestroyed(_ index: Int, _ entry: Reports.Entry) -> Bool {
    switch program.operations[index].kind {
    case .block: rememberedOperations.withLock { $0[index].operation == nil }
    case .barrier: false
    case .plain, .asynchronous, .late, .lingering, .selfFinishing, .stateful, .conditional,
      .oblivious:
      entry.isDestroyed
    }
  }

  func drop(_ index: Int) {
    // The operation is released after the lock is unlocked, because its `deinit` sends a report.
    let dropped = operations.withLock { $0[index].take() }
    withExtendedLifetime(dropped) {}
  }

  func dropQueue(_ index: Int) {
    let dropped = queues.withLock { $0[index].take() }
    withExtendedLifetime(dropped) {}
  }
}
