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
  // for `original`, which is as safe as Foundation makes it.
  final class ForwardedOperation: OperationsCore.Operation, @unchecked Sendable {
    /// What follows the finish of Foundation's operations runs here, and what is not ready yet.
    private static let followUps: Foundation.OperationQueue = {
      let queue = Foundation.OperationQueue()
      queue.name = "opq follow-ups"
      return queue
    }()

    private let original: Foundation.Operation
    /// Whether the original's dependencies have finished.
    private let isReleased: Atomic<Bool>
    private let hasStarted = Atomic<Bool>(false)
    private let hasFinished = Atomic<Bool>(false)

    init(_ original: Foundation.Operation) {
      self.original = original
      let dependencies = original.dependencies
      isReleased = Atomic(dependencies.isEmpty)
      super.init()
      name = original.name
      queuePriority = QueuePriority(rawValue: original.queuePriority.rawValue) ?? .normal
      qualityOfService = OperationsCore.QualityOfService(original.qualityOfService)
      if !dependencies.isEmpty { Self.follow(dependencies) { self.release() } }
    }

    /// Calls `body` once all of these have finished.
    private static func follow(
      _ operations: [Foundation.Operation], _ body: @escaping @Sendable () -> Void
    ) {
      let followUp = Foundation.BlockOperation(block: body)
      for operation in operations { followUp.addDependency(operation) }
      followUps.addOperation(followUp)
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
        Self.followUps.addOperation(original)
      }
      if original.isFinished { finish() } else { Self.follow([original]) { self.finish() } }
    }

    override func cancel() {
      // First: cancelled, this may be started at once, and the original would run.
      original.cancel()
      super.cancel()
    }

    private func finish() {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      hasFinished.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }
#endif
