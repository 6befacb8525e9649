// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a viewer is told of one unfinished operation beyond its report: it takes time to find out,
/// so it is asked for singly, by ``Interest/detail``.
public struct OperationDetail: Sendable, Equatable {
  /// The operation.
  public var id: OperationReport.ID
  /// How important its work is to the user.
  public var qualityOfService: OperationQualityOfService
  /// Everything that keeps it from starting, what comes first in the list of ``Reason/Kind`` first;
  /// empty where it executes.
  public var reasons: [Reason]
  /// The operations that it waits for in its own code while it executes.
  public var awaitedOperations: [OperationReport.ID]
  /// The queues that it waits for in its own code until they are empty.
  public var awaitedQueues: [QueueReport.ID]

  /// Creates a detail; by default nothing holds the operation up.
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

  /// One of the things that keep an operation from starting.
  public struct Reason: Encodable, Sendable, Equatable {
    /// What kind of thing. The raw value is the word for JSON.
    public enum Kind: String, Encodable, Sendable, CaseIterable {
      /// Nobody has added it to a queue, nor started it.
      case notInQueue = "not-in-queue"
      /// Its queue is suspended, or has the width 0.
      case queueSuspended = "queue-suspended"
      /// Dependencies have not finished.
      case unmetDependencies = "unmet-dependencies"
      /// Its dependencies are met, and its own `isReady` says no.
      case notReadyByItself = "not-ready-by-itself"
      /// Others execute with an exclusion that it needs.
      case excluded
      /// It is ready, and every slot of its queue is taken.
      case noFreeSlot = "no-free-slot"
      /// It is ready, a slot is free, and no thread has taken it yet.
      case notStartedYet = "not-started-yet"
      /// It was added behind a barrier that has not finished.
      case barrierAhead = "barrier-ahead"
      /// Dependencies are in no queue, and nobody has started them.
      case dependenciesNeverAdded = "dependencies-never-added"
    }

    /// What kind of thing.
    public var kind: Kind
    /// The same as one sentence without the operation, such as "it waits for …"; unsanitised, since
    /// it holds names.
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
  /// Work that the user waits for at this moment.
  case userInteractive
  /// Work that the user asked for.
  case userInitiated
  /// Work that the user knows of.
  case utility
  /// Work that the user does not see.
  case background
  /// No statement.
  case `default`
}
