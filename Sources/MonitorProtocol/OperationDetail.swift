// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Information about one unfinished operation that its report does not have. It is expensive to
/// compute, so a viewer requests it for one operation, by ``Interest/detail``.
public struct OperationDetail: Sendable, Equatable {
  /// The operation.
  public var id: OperationReport.ID
  /// How important its work is to the user.
  public var qualityOfService: OperationQualityOfService
  /// Everything that keeps the operation from starting, in the order of ``Reason/Kind``; empty if
  /// it executes.
  public var reasons: [Reason]
  /// The operations whose end its own code waits for while it executes.
  public var awaitedOperations: [OperationReport.ID]
  /// The queues that its own code waits for until they are empty.
  public var awaitedQueues: [QueueReport.ID]

  /// Creates a detail; by default without reasons.
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
    /// The kind of a reason. The raw value is the word for JSON.
    public enum Kind: String, Encodable, Sendable, CaseIterable {
      /// It was neither added to a queue nor started.
      case notInQueue = "not-in-queue"
      /// Its queue is suspended, or has the width 0.
      case queueSuspended = "queue-suspended"
      /// Dependencies have not finished.
      case unmetDependencies = "unmet-dependencies"
      /// Its dependencies are finished, and its own `isReady` is `false`.
      case notReadyByItself = "not-ready-by-itself"
      /// Other operations execute with an exclusion that it needs.
      case excluded
      /// It is ready, and every slot of its queue is in use.
      case noFreeSlot = "no-free-slot"
      /// It is ready and a slot is free, but no thread has started it yet.
      case notStartedYet = "not-started-yet"
      /// It was added behind a barrier that has not finished.
      case barrierAhead = "barrier-ahead"
      /// Dependencies are not in a queue and were not started.
      case dependenciesNeverAdded = "dependencies-never-added"
    }

    /// The kind of the reason.
    public var kind: Kind
    /// The reason as a sentence about the operation, such as "it waits for …". The sentence may
    /// contain names, so it is unsanitised.
    public var sentence: String

    /// Creates a reason.
    public init(kind: Kind, sentence: String) {
      self.kind = kind
      self.sentence = sentence
    }
  }
}

/// How important an operation's work is to the user; the raw value is the word on the screen.
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
