// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Dispatch
  import Foundation
  import OperationsCore

  /// A queue of Foundation's type that forwards everything to a queue of this library. See
  /// `OperationQueue.foundationQueue`.
  // Unchecked `Sendable` conformance, because the compiler cannot check Foundation's class. The stored values
  // are constant.
  final class ForwardingQueue: Foundation.OperationQueue, @unchecked Sendable {
    private let forwardingTarget: ForwardingTarget
    private let targetProgress: QueueProgress
    private let innerBlocks = InnerBlocks()

    private var target: OperationsCore.OperationQueue { forwardingTarget.queue }

    init(target: OperationsCore.OperationQueue, progress: QueueProgress) {
      forwardingTarget = ForwardingTarget(target)
      targetProgress = progress
      super.init()
    }

    // MARK: Adding

    override func addOperation(_ operation: Foundation.Operation) {
      target.addOperation(ForwardedOperation(operation))
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      let target = target
      if OperationsCore.OperationQueue.current === target {
        innerBlocks.add(block, to: target)
      } else {
        target.addOperation(block)
      }
    }

    override func addOperations(
      _ operations: [Foundation.Operation], waitUntilFinished waits: Bool
    ) {
      target.addOperations(operations.map { ForwardedOperation($0) }, waitUntilFinished: waits)
    }

    override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
      target.addBarrierBlock(barrier)
    }

    // MARK: Control

    override var maxConcurrentOperationCount: Int {
      get { target.maxConcurrentOperationCount }
      set { target.maxConcurrentOperationCount = newValue }
    }

    override var isSuspended: Bool {
      get { target.isSuspended }
      set { target.isSuspended = newValue }
    }

    override var name: String? {
      get { target.name }
      set { target.name = newValue }
    }

    override var qualityOfService: Foundation.QualityOfService {
      get { Foundation.QualityOfService(target.qualityOfService) }
      set { target.qualityOfService = OperationsCore.QualityOfService(newValue) }
    }

    override var underlyingQueue: DispatchQueue? {
      get { target.underlyingQueue }
      set { target.underlyingQueue = newValue }
    }

    override var progress: Progress { targetProgress }

    override func cancelAllOperations() { target.cancelAllOperations() }

    /// Waits for all operations. Inside an operation of the queue, the method waits for the blocks that the
    /// same thread has added to the queue. A queue of this library would report a mistake instead. A
    /// notification center calls this method to wait for the blocks that it has just added.
    override func waitUntilAllOperationsAreFinished() {
      let target = target
      if OperationsCore.OperationQueue.current === target {
        innerBlocks.finishThoseOfThisThread()
      } else {
        target.waitUntilAllOperationsAreFinished()
      }
    }
  }
#endif
