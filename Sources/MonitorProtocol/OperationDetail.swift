// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Additional information about one unfinished operation, which is not in its report. The
/// information is expensive to compute. Therefore a viewer requests it for only one operation, with
/// ``Interest/detail``.
public struct OperationDetail: Sendable, Equatable {
  /// The id of the operation.
  public var id: OperationReport.ID
  /// The quality of service of the operation, which says how important its work is to the user.
  public var qualityOfService: OperationQualityOfService
  /// The reasons why the operation does not start, in the order of ``Reason/Kind``; empty if the
  /// operation executes.
  public var reasons: [Reason]
  /// The operations that the operation's own code waits for while it executes.
  public var awaitedOperations: [OperationReport.ID]
  /// The queues that the operation's own code waits for until all their operations have finished.
  public var awaitedQueues: [QueueReport.ID]

  /// Creates the detail of an operation. By default, it has no reasons and no awaited operations or
  /// queues.
  public init(
    id: OperationReport.ID, qualityOfService: OperationQualityOfService = .default,
    reasons: [Reason] = [], awaitedOperations: [OperationReport.ID] = [],
    awaitedQueues: [QueueReport.ID] = []
  ) {
    self.id = id
    self.qualityOfService = qualityOfService
    self.reasons = reasons
    self.awaitedOperations = awaitedOperations
    self.awaitedQueues = awaitedQueues
  }

  /// A reason why an operation does not start.
  public struct Reason: Encodable, Sendable, Equatable {
    /// The kind of a reason. The raw value is the name of the kind in JSON.
    public enum Kind: String, Encodable, Sendable, CaseIterable {
      /// The operation was neither added to a queue nor started.
      case notInQueue = "not-in-queue"
      /// The queue of the operation is suspended or has the width 0.
      case queueSuspended = "queue-suspended"
      /// Some dependencies of the operation have not finished.
      case unmetDependencies = "unmet-dependencies"
      /// The operation was added with a delay that has not ended.
      case delayed
      /// The dependencies of the operation have finished, but its own `isReady` is `false`.
      case notReadyByItself = "not-ready-by-itself"
      /// The operation needs a mutual exclusion that other operations use.
      case excluded
      /// The operation is ready, but every slot of its queue is in use.
      case noFreeSlot = "no-free-slot"
      /// The operation is ready, but its queue has started as many operations as its limit allows.
      case startLimitReached = "start-limit-reached"
      /// The operation is ready and a slot is free, but no thread has started the operation yet.
      case notStartedYet = "not-started-yet"
      /// The operation was added after a barrier that has not finished.
      case barrierAhead = "barrier-ahead"
      /// Some dependencies of the operation are not in a queue and were not started.
      case dependenciesNeverAdded = "dependencies-never-added"
    }

    /// The kind of the reason.
    public var kind: Kind
    /// The reason as a sentence about the operation, such as "it waits for …". The sentence may
    /// contain names, so it is unsanitised.
    public var sentence: String
    /// The operations that cause the reason, the most important first, such as the operations that
    /// hold the slots; at most ``MonitorWarning/operationLimit``. Empty if no operation causes it.
    public var operations: [OperationReport.ID]

    /// Creates a reason why an operation does not start.
    public init(kind: Kind, sentence: String, operations: [OperationReport.ID] = []) {
      self.kind = kind
      self.sentence = sentence
      self.operations = Array(operations.prefix(MonitorWarning.operationLimit))
    }
  }

  /// The operations that the detail names. A monitor also sends the reports of these operations.
  package var namedOperations: [OperationReport.ID] {
    awaitedOperations.prefix(MonitorWarning.operationLimit) + reasons.flatMap(\.operations)
  }
}

/// The quality of service of an operation, which says how important its work is to the user. The
/// raw value is the word on the screen.
public enum OperationQualityOfService: String, Sendable, CaseIterable {
  /// Work that the user is waiting for.
  case userInteractive
  /// Work that the user asked for.
  case userInitiated
  /// Work that the user is aware of.
  case utility
  /// Work that the user is not aware of.
  case background
  /// No quality of service was set.
  case `default`
}
