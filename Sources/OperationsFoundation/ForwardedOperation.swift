// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Foundation
  import OperationsCore
  import Synchronization

  /// An operation of Foundation's as one of ours: holds its place in the queue, starts it, and finishes
  /// when it has finished.
  ///
  /// Foundation on Linux tells nobody outside of changes. What is to happen when some of its operations
  /// have finished is therefore an operation of Foundation's that depends on them.
  // Unchecked for the reason given at `Operation`. What is stored here is constant or thread-safe, but
  // for operations of Foundation's, which are as safe as it makes them.
  final class ForwardedOperation: OperationsCore.Operation, @unchecked Sendable {
    private let original: Foundation.Operation
    /// What notes that the original's dependencies have finished; `nil` where it has none.
    private let releasing: Foundation.BlockOperation?
    /// Whether the original's dependencies have finished.
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

    /// Has Foundation run an operation of its own once all of these have finished and it is ready.
    ///
    /// In a queue for it alone, which lives until it has finished: each time one finishes, a queue of
    /// Foundation's looks at all that it has. Among `n` in one queue that would be `n` looks for each;
    /// a queue each costs the same for every one of them, some 1,700 bytes while it waits.
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
      // One that is not ready would trap. Where the last dependency is just finishing, or its own
      // `isReady` says no, Foundation's queue knows when to start it.
      if original.isReady {
        original.start()
      } else {
        Self.run(original)
      }
      if original.isFinished { return finish() }
      // Our queue keeps this operation as long as it executes.
      Self.run(Foundation.BlockOperation { [weak self] in self?.finish() }, after: [original])
    }

    override func cancel() {
      // First: cancelled, this may be started at once, and the original would run.
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

    /// Cancelled, the original did not wait for its dependencies, and they may never finish: what
    /// waits for them would be kept for ever.
    private func leaveDependencies() {
      // Foundation's dependencies refer to what depends on them without keeping it, and reach for it
      // when they finish: none of these two may go away while they are referred to.
      for dependency in original.dependencies { original.removeDependency(dependency) }
      guard let releasing else { return }
      for dependency in releasing.dependencies { releasing.removeDependency(dependency) }
      // Not before: Foundation miscounts what is taken from one that was cancelled, and it would stay
      // in its queue. Once cancelled it is ready whatever it has counted, and leaves.
      releasing.cancel()
    }
  }
#endif
