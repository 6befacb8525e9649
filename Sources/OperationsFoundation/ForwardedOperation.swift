// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Foundation
  import OperationsCore
  import Synchronization

  /// An operation of this library that represents an operation of Foundation, the original. It holds the
  /// original's place in the queue, starts the original, and finishes when the original has finished.
  ///
  /// Foundation on Linux does not notify observers of changes. Therefore, if an action must follow the finish
  /// of operations of Foundation, the action is another operation of Foundation that depends on them.
  // Unchecked `Sendable` conformance for the reason given at `Operation`. The stored values are constant or
  // thread-safe, except operations of Foundation, which are as safe as Foundation makes them.
  final class ForwardedOperation: OperationsCore.Operation, @unchecked Sendable {
    private let original: Foundation.Operation
    /// An operation that records that the original's dependencies have finished; `nil` if the original has no
    /// dependencies.
    private let releasing: Foundation.BlockOperation?
    /// Whether the dependencies of the original, the operation of Foundation, have finished.
    private let isReleased: Atomic<Bool>
    private let hasStarted = Atomic<Bool>(false)
    private let hasFinished = Atomic<Bool>(false)

    init(_ original: Foundation.Operation) {
      self.original = original
      let dependencies = original.dependencies
      isReleased = Atomic(dependencies.isEmpty)
      releasing = dependencies.isEmpty ? nil : Foundation.BlockOperation()
      super.init()
      name = original.name
      queuePriority = QueuePriority(rawValue: original.queuePriority.rawValue) ?? .normal
      qualityOfService = OperationsCore.QualityOfService(original.qualityOfService)
      if let releasing {
        releasing.addExecutionBlock { [weak self] in self?.release() }
        Self.run(releasing, after: dependencies)
      }
    }

    /// Makes Foundation run one of its operations when all dependencies have finished and the operation is
    /// ready.
    ///
    /// The operation gets a separate queue, which lives until the operation has finished. Each time an
    /// operation finishes, a queue of Foundation examines all its operations. If `n` operations were in one
    /// queue, each finish would cost `n` steps. A separate queue costs about 1,700 bytes while its operation
    /// waits, however many operations wait.
    private static func run(
      _ operation: Foundation.Operation, after dependencies: [Foundation.Operation] = []
    ) {
      for dependency in dependencies { operation.addDependency(dependency) }
      Foundation.OperationQueue().addOperation(operation)
    }

    // MARK: State

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { hasFinished.load(ordering: .acquiring) }
    override var isExecuting: Bool { hasStarted.load(ordering: .acquiring) && !isFinished }
    override var isReady: Bool {
      super.isReady && (isReleased.load(ordering: .acquiring) || isCancelled)
    }

    private func release() {
      willChangeValue(forKey: "isReady")
      isReleased.store(true, ordering: .releasing)
      didChangeValue(forKey: "isReady")
    }

    // MARK: Work

    override func start() {
      willChangeValue(forKey: "isExecuting")
      hasStarted.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      // Foundation's `start()` traps if the original operation is not ready. If the last dependency is
      // finishing at this moment, or if the original's own `isReady` is `false`, a queue of Foundation starts
      // the original when it is ready.
      if original.isReady {
        original.start()
      } else {
        Self.run(original)
      }
      if original.isFinished { return finish() }
      // The reference to this operation is weak. It is valid here, because this library's queue retains the
      // operation while the operation executes.
      Self.run(Foundation.BlockOperation { [weak self] in self?.finish() }, after: [original])
    }

    override func cancel() {
      // The original is cancelled first. If this operation were cancelled first, it might be started at once,
      // and the original would run.
      original.cancel()
      super.cancel()
    }

    private func finish() {
      if !isReleased.load(ordering: .acquiring) { leaveDependencies() }
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      hasFinished.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }

    /// Removes the dependencies of `original`, which is an operation of Foundation, and of `releasing`, which
    /// is an operation with the same dependencies. A cancelled original has not waited for its dependencies,
    /// which may never finish. If the original kept these dependencies, Foundation would keep the operations
    /// that wait for them in memory forever.
    private func leaveDependencies() {
      // In Foundation, dependencies refer to their dependents without retaining them, and use these
      // references when they finish. So neither of the two dependents, `original` and `releasing`, may be
      // deallocated while a dependency refers to it.
      for dependency in original.dependencies { original.removeDependency(dependency) }
      guard let releasing else { return }
      for dependency in releasing.dependencies { releasing.removeDependency(dependency) }
      // The operation `releasing` is cancelled after its dependencies are removed. If it were cancelled
      // first, Foundation would miscount the removed dependencies, and `releasing` would stay in its queue.
      // The cancellation makes `releasing` ready regardless of the count, so that it leaves its queue.
      releasing.cancel()
    }
  }
#endif
