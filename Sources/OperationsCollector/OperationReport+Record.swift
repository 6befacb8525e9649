// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

// This file converts types of the operations library to types of the monitor's protocol.

extension StateCounts {
  /// Creates the counts of a queue. If the queue is suspended, its ready operations are held.
  init(_ counts: QueueSnapshot.Counts, isSuspended: Bool) {
    self.init(
      waiting: counts.waiting, ready: counts.ready, held: isSuspended ? counts.ready : 0,
      executing: counts.executing, cancelling: counts.cancelling, finished: counts.finished,
      failed: counts.failed, cancelled: counts.cancelled, total: counts.total)
  }
}

extension MonitorProtocol.OperationState {
  /// Creates the state that a monitor shows for an operation.
  init(
    _ state: OperationsCore.OperationState, isCancelled: Bool, hasFailed: Bool, isSuspended: Bool
  ) {
    switch state {
    case .waiting: self = .waiting
    case .ready: self = isCancelled ? .cancelling : isSuspended ? .held : .ready
    case .executing: self = isCancelled ? .cancelling : .executing
    case .finished: self = isCancelled ? .cancelled : hasFailed ? .failed : .finished
    }
  }
}

extension OperationReport {
  /// Creates a report of an operation in the state waiting. ``take(_:_:isSuspended:unmetCount:)``
  /// then sets the values that may change.
  init(_ snapshot: RecordedOperation, className: String) {
    self.init(
      id: ID(snapshot.id.rawValue), name: snapshot.name ?? "", className: className,
      queue: QueueReport.ID(snapshot.queue.rawValue), state: .waiting)
    if let kind = snapshot.kind { givenKind = kind.wireText }
  }

  /// Updates the values of the report that may change, except for the dependencies. `error` is the text of
  /// the operation's error, or of the reason of its cancellation; `nil` if the queue has reported neither
  /// since the last update.
  mutating func take(
    _ snapshot: RecordedOperation, _ error: String?, isSuspended: Bool, unmetCount: Int
  ) {
    func time(_ nanoseconds: Int64?) -> MonitorTime? {
      nanoseconds.map { MonitorTime(nanoseconds: $0) }
    }
    name = snapshot.name ?? ""
    // The kind is truncated here, so that all viewers combine the same operations.
    if givenKind != snapshot.kind { givenKind = snapshot.kind?.wireText }
    state = MonitorProtocol.OperationState(
      snapshot.state, isCancelled: snapshot.isCancelled, hasFailed: snapshot.hasFailed,
      isSuspended: isSuspended)
    errorText = snapshot.hasFailed ? error : nil
    cancellationCause = snapshot.cancellationCause.map {
      CancellationCause($0, reason: error ?? cancellationCause?.reason)
    }
    priority = OperationPriority(rawValue: snapshot.priority.rawValue) ?? .normal
    unmetDependencyCount = state == .waiting ? unmetCount : 0
    isExcluded = state == .waiting && snapshot.isExcluded
    added = time(snapshot.added)
    becameReady = time(snapshot.becameReady)
    started = time(snapshot.started)
    cancelRequested = time(snapshot.cancelRequested)
    finished = time(snapshot.finished)
    let quality = OperationQualityOfService(snapshot.qualityOfService)
    if quality != qualityOfService { qualityOfService = quality }
    if let (recorded, lastError) = snapshot.attempts { take(recorded, lastError) }
    if let reports = snapshot.reports { take(reports) }
    let isFoundExecuting = isStartUnknown
    if isFoundExecuting != (foundExecuting != nil) {
      foundExecuting = isFoundExecuting ? .now : nil
    }
  }
}

extension OperationReport.CancellationCause {
  /// Creates the cause of a cancellation that a queue has recorded. `reason` is the text of the reason that
  /// code has given; `nil` if it has given none.
  init(_ cause: OperationsCore.CancellationCause, reason: String?) {
    self =
      switch cause {
      case .code: .code(reason: reason)
      case .dependency(let id): .dependency(.init(id.rawValue))
      case .container(let id): .container(.init(id.rawValue))
      case .timeout(let id): .timeout(.init(id.rawValue))
      case .timeLimit: .timeLimit
      case .queue(let id): .queue(.init(id.rawValue), reason: reason)
      case .viewer(let processID, let userID):
        .viewer(CommandOrigin(processID: processID, userID: userID))
      }
  }
}

// MARK: - Progress and status

extension OperationReport {
  /// Updates what the operation's code has reported, and the end of its delay. A later report notifies the
  /// collector again. The state of the operation must be up to date.
  private mutating func take(_ reports: OperationReports) {
    let last = reports.read()
    progress = last.progress.map {
      OperationProgress(
        completed: $0.completed, total: $0.total == 0 ? nil : $0.total, base: $0.base,
        since: MonitorTime(nanoseconds: $0.since))
    }
    statusText = last.status?.wireErrorText
    memberQueue = last.memberQueue.map { QueueReport.ID($0.rawValue) }
    // A cancelled operation is not waiting, although its delay has not ended.
    delayEnd =
      state == .waiting ? last.delayEnd.map { MonitorTime(nanoseconds: $0) } : nil
  }
}

// MARK: - Attempts

extension OperationReport {
  /// Updates the attempts of a retry. The state and the error of the retry must be up to date.
  ///
  /// The method calls the code of the user that describes an error, once for each failed attempt. The
  /// collector's thread calls it outside every lock.
  private mutating func take(_ recorded: RecordedAttempts, _ lastError: (any Error)?) {
    var new = RetryAttempts(maximum: recorded.maximum, number: recorded.number)
    new.attempts = recorded.attempts.map {
      RetryAttempts.Attempt($0, isCancelling: state == .cancelling)
    }
    new.pauseEnd = state.isOver ? nil : recorded.pauseEnd.map { MonitorTime(nanoseconds: $0) }
    if let lastError {
      let isExecuting = new.attempts.last.map { $0.finished == nil } ?? false
      let number = isExecuting ? recorded.number - 1 : recorded.number
      let known = attempts?.lastFailure.flatMap { $0.number == number ? $0 : nil }
      new.lastFailure =
        known ?? RetryAttempts.Failure(number: number, text: Self.text(of: lastError))
    } else if errorText == nil, let known = attempts?.lastFailure,
      new.attempts.last(where: { $0.state == .failed })?.number == known.number
    {
      new.lastFailure = known
    }
    attempts = new
  }

  /// Returns the text of an error, or its type if its text is empty.
  fileprivate static func text(of error: any Error) -> String {
    let text = "\(error)".wireErrorText
    return text.isEmpty ? "\(type(of: error))".wireErrorText : text
  }
}

extension RetryAttempts.Attempt {
  fileprivate init(_ recorded: RecordedAttempts.Attempt, isCancelling: Bool) {
    let state: MonitorProtocol.OperationState =
      if recorded.finished == nil {
        isCancelling ? .cancelling : .executing
      } else {
        recorded.isCancelled ? .cancelled : recorded.hasFailed ? .failed : .finished
      }
    self.init(
      id: .init(recorded.id.rawValue), number: recorded.number,
      name: (recorded.name ?? "").wireText, kind: (recorded.kind ?? recorded.className).wireText,
      state: state, started: MonitorTime(nanoseconds: recorded.started),
      finished: recorded.finished.map { MonitorTime(nanoseconds: $0) })
  }
}

extension QueueChanges {
  /// The texts of the errors and of the reasons of cancellations, by the index of the operation.
  ///
  /// The property calls the code of the user that describes an error. The collector's thread reads it
  /// outside every lock.
  var errorTexts: [Int: String] {
    // All operations of a queue may have been cancelled with the same reason. Equal texts share their memory.
    var last = ""
    return errors.mapValues { error in
      let text = OperationReport.text(of: error)
      if text != last { last = text }
      return last
    }
  }
}

extension OperationDetail {
  /// Creates the detail of an operation: its quality of service, the reasons why it does not start,
  /// and the operations and queues that it waits for.
  init(_ operation: Operation, id: OperationReport.ID) {
    self.init(
      id: id, qualityOfService: OperationQualityOfService(operation.givenQualityOfService),
      reasons: operation.reasonsNotRunning().map { Reason($0) })
    for awaited in operation.awaitedInside {
      switch awaited {
      case .operation(let operation):
        awaitedOperations.append(OperationReport.ID(operation.id.rawValue))
      case .queue(let queue): awaitedQueues.append(QueueReport.ID(queue.id.rawValue))
      }
    }
  }
}

extension QueueReport {
  /// Creates a report of the state in which a collector has read a queue.
  init(_ changes: QueueChanges) {
    self.init(
      id: ID(changes.id.rawValue), name: changes.name,
      counts: StateCounts(changes.counts, isSuspended: changes.isSuspended),
      width: changes.maxConcurrentOperationCount < 0 ? nil : changes.maxConcurrentOperationCount,
      isSuspended: changes.isSuspended, startLimit: changes.startLimit.map { .init($0) })
    startedCount = changes.startedCount
  }
}

extension QueueReport.StartLimit {
  init(_ limit: OperationStartLimit) {
    let (seconds, attoseconds) = limit.period.components
    self.init(count: limit.count, periodSeconds: Double(seconds) + Double(attoseconds) / 1e18)
  }
}

extension OperationStartLimit {
  init(_ limit: QueueReport.StartLimit) {
    self.init(limit.count, per: .nanoseconds(limit.periodNanoseconds))
  }
}

extension OperationDetail.Reason {
  init(_ reason: NotRunningReason) {
    let kind: Kind =
      switch reason {
      case .notInQueue: .notInQueue
      case .queueSuspended: .queueSuspended
      case .unmetDependencies: .unmetDependencies
      case .delayed: .delayed
      case .notReadyByItself: .notReadyByItself
      case .excluded, .exclusionReserved: .excluded
      case .noFreeSlot: .noFreeSlot
      case .startLimitReached: .startLimitReached
      case .notStartedYet: .notStartedYet
      case .barrierAhead: .barrierAhead
      case .dependenciesNeverAdded: .dependenciesNeverAdded
      }
    self.init(
      kind: kind, sentence: "\(reason)",
      operations: Self.operations(of: reason).map { OperationReport.ID($0.id.rawValue) })
  }

  private static func operations(of reason: NotRunningReason) -> [OperationReference] {
    switch reason {
    case .unmetDependencies(let unmet, _, let chain):
      // The sentence names the first operation of the chain, so this operation is the first one here too.
      let first = chain.operations.prefix(1)
      return first + unmet.filter { $0 != first.first }
    case .excluded(_, let operations), .exclusionReserved(_, let operations),
      .noFreeSlot(_, _, _, let operations), .dependenciesNeverAdded(let operations):
      return operations
    case .barrierAhead(let barrier, _, _): return [barrier]
    case .notInQueue, .queueSuspended, .delayed, .notReadyByItself, .startLimitReached,
      .notStartedYet:
      return []
    }
  }
}

extension OperationQualityOfService {
  init(_ quality: QualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      }
  }
}
