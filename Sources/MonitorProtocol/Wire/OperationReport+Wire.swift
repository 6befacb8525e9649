// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireOperation {
  init(_ report: OperationReport) {
    self.init()
    id = report.id.rawValue
    name = report.name.wireText
    className = report.className.wireText
    queue = report.queue.rawValue
    state = WireState(report.state)
    if report.priority != .normal { priority = WirePriority(report.priority) }
    if !report.dependencies.isEmpty { dependencies = report.dependencies.map(\.rawValue) }
    unmetDependencyCount = Int64(report.unmetDependencyCount)
    isExcluded = report.isExcluded
    dependentCount = Int64(report.dependentCount)
    if let time = report.added { added = time.nanoseconds }
    if let time = report.becameReady { becameReady = time.nanoseconds }
    if let time = report.started { started = time.nanoseconds }
    if let time = report.cancelRequested { cancelRequested = time.nanoseconds }
    if let time = report.finished { finished = time.nanoseconds }
    if let origin = report.cancelRequester { cancelRequesters = [WireCommandOrigin(origin)] }
  }
}

extension OperationReport {
  /// Creates a report from a message; `nil` if this version does not know the state.
  init?(_ wire: WireOperation) {
    guard let state = OperationState(wire.state) else { return nil }
    self.init(
      id: ID(wire.id), name: wire.name.wireText, className: wire.className.wireText,
      queue: .init(wire.queue),
      state: state, priority: OperationPriority(wire.priority),
      dependencies: wire.dependencies.map { ID($0) },
      unmetDependencyCount: Int(wireCount: wire.unmetDependencyCount),
      isExcluded: wire.isExcluded, dependentCount: Int(wireCount: wire.dependentCount),
      added: wire.hasAdded ? MonitorTime(wire: wire.added) : nil,
      becameReady: wire.hasBecameReady ? MonitorTime(wire: wire.becameReady) : nil,
      started: wire.hasStarted ? MonitorTime(wire: wire.started) : nil,
      cancelRequested: wire.hasCancelRequested ? MonitorTime(wire: wire.cancelRequested) : nil,
      finished: wire.hasFinished ? MonitorTime(wire: wire.finished) : nil)
    cancelRequester = wire.cancelRequesters.last.map { CommandOrigin($0) }
  }
}

extension WireCommandOrigin {
  init(_ origin: CommandOrigin) {
    self.init()
    processID = origin.processID
    userID = origin.userID
  }
}

extension CommandOrigin {
  init(_ wire: WireCommandOrigin) {
    self.init(processID: wire.processID, userID: wire.userID)
  }
}

extension WireState {
  init(_ state: OperationState) {
    self =
      switch state {
      case .waiting: .waiting
      case .ready: .ready
      case .held: .held
      case .executing: .executing
      case .cancelling: .cancelling
      // A message has another field for a failure, which earlier versions do not know.
      case .finished, .failed: .finished
      case .cancelled: .cancelled
      }
  }
}

extension OperationState {
  init?(_ wire: WireState) {
    switch wire {
    case .waiting: self = .waiting
    case .ready: self = .ready
    case .held: self = .held
    case .executing: self = .executing
    case .cancelling: self = .cancelling
    case .finished: self = .finished
    case .cancelled: self = .cancelled
    case .unspecified, .UNRECOGNIZED: return nil
    }
  }

  /// Creates a state from a message that has its own field for a failure.
  init?(_ wire: WireState, hasFailed: Bool) {
    self.init(wire)
    if hasFailed, self == .finished { self = .failed }
  }
}

// MARK: - Errors

extension WireOperationError {
  /// Creates the message about the error of an operation; `nil` if the operation has neither failed nor an
  /// error.
  init?(_ report: OperationReport) {
    guard report.state == .failed || report.errorText != nil else { return nil }
    self.init()
    operation = report.id.rawValue
    if let text = report.errorText { self.text = text.wireErrorText }
  }
}

extension OperationReport {
  /// Stores the error of the operation. If the operation has finished and was not cancelled, it has failed.
  mutating func take(_ wire: WireOperationError) {
    if state == .finished { state = .failed }
    errorText = wire.hasText ? wire.text.wireErrorText : nil
  }
}

extension WireFoundExecuting {
  /// Creates the message about an executing operation whose start is unknown; `nil` for any other operation.
  init?(_ report: OperationReport) {
    guard let found = report.foundExecuting else { return nil }
    self.init()
    operation = report.id.rawValue
    time = found.nanoseconds
  }
}

// MARK: - Causes of cancellations

extension WireCancellation {
  /// Creates the message about what cancelled an operation; `nil` if it was not cancelled or the cause is
  /// unknown.
  init?(_ report: OperationReport) {
    guard let cause = report.cancellationCause else { return nil }
    self.init()
    operation = report.id.rawValue
    if let text = cause.reason { reason = text.wireErrorText }
    switch cause {
    case .code: code = true
    case .dependency(let id): dependency = id.rawValue
    case .container(let id): container = id.rawValue
    case .timeout(let id): timeout = id.rawValue
    case .timeLimit: timeLimit = true
    case .queue(let id, _): queue = id.rawValue
    case .viewer(let origin): viewer = WireCommandOrigin(origin)
    }
  }
}

extension OperationReport.CancellationCause {
  /// Creates a cause from a message; `nil` if this version does not know the cause.
  init?(_ wire: WireCancellation) {
    let reason = wire.hasReason ? wire.reason.wireErrorText : nil
    switch wire.cause {
    case .code: self = .code(reason: reason)
    case .dependency(let id): self = .dependency(.init(id))
    case .container(let id): self = .container(.init(id))
    case .timeout(let id): self = .timeout(.init(id))
    case .timeLimit: self = .timeLimit
    case .queue(let id): self = .queue(.init(id), reason: reason)
    case .viewer(let origin): self = .viewer(CommandOrigin(origin))
    case nil: return nil
    }
  }
}

// MARK: - Attempts

extension WireAttempts {
  /// Creates the message about the attempts of a retry; `nil` for other operations.
  init?(_ report: OperationReport) {
    guard let attempts = report.attempts else { return nil }
    self.init()
    operation = report.id.rawValue
    maximum = Int64(attempts.maximum)
    number = Int64(attempts.number)
    self.attempts = attempts.attempts.suffix(RetryAttempts.limit).map { WireAttempt($0) }
    if let end = attempts.pauseEnd { pauseEnd = end.nanoseconds }
    if let failure = attempts.lastFailure {
      failedNumber = Int64(failure.number)
      error = failure.text.wireErrorText
    }
  }
}

extension RetryAttempts {
  init(_ wire: WireAttempts) {
    self.init(
      maximum: Int(wireCount: wire.maximum), number: Int(wireCount: wire.number),
      pauseEnd: wire.hasPauseEnd ? MonitorTime(wire: wire.pauseEnd) : nil)
    // An attempt with a number that is not greater than the previous one is left out, because a view
    // identifies attempts by their numbers.
    for attempt in wire.attempts.suffix(Self.limit).compactMap({ Attempt($0) })
    where attempt.number > attempts.last?.number ?? 0 {
      attempts.append(attempt)
    }
    if wire.failedNumber > 0 {
      lastFailure = Failure(
        number: Int(wireCount: wire.failedNumber), text: wire.error.wireErrorText)
    }
  }
}

extension WireAttempt {
  init(_ attempt: RetryAttempts.Attempt) {
    self.init()
    id = attempt.id.rawValue
    number = Int64(attempt.number)
    name = attempt.name.wireText
    kind = attempt.kind.wireText
    state = WireState(attempt.state)
    isFailed = attempt.state == .failed
    started = attempt.started.nanoseconds
    if let time = attempt.finished { finished = time.nanoseconds }
  }
}

extension RetryAttempts.Attempt {
  /// Creates an attempt from a message; `nil` if this version does not know the state.
  init?(_ wire: WireAttempt) {
    guard let state = OperationState(wire.state, hasFailed: wire.isFailed) else { return nil }
    self.init(
      id: .init(wire.id), number: Int(wireCount: wire.number), name: wire.name.wireText,
      kind: wire.kind.wireText, state: state, started: MonitorTime(wire: wire.started),
      finished: wire.hasFinished ? MonitorTime(wire: wire.finished) : nil)
  }
}

// MARK: - Progress and status

extension WireReport {
  /// Creates the message about what the code of an operation has reported, the queue of a group's members and the
  /// end of a delay; `nil` if there is none of these.
  init?(_ report: OperationReport) {
    guard
      report.progress != nil || report.statusText != nil || report.memberQueue != nil
        || report.delayEnd != nil
    else { return nil }
    self.init()
    operation = report.id.rawValue
    if let progress = report.progress {
      completed = Int64(progress.completed)
      total = Int64(progress.total ?? 0)
      base = Int64(progress.base)
      since = progress.since.nanoseconds
    }
    if let text = report.statusText { status = text.wireErrorText }
    if let queue = report.memberQueue { memberQueue = queue.rawValue }
    if let end = report.delayEnd { delayEnd = end.nanoseconds }
  }
}

extension OperationReport {
  /// Stores what the operation's code has reported, the queue of a group's members and the end of a delay.
  mutating func take(_ wire: WireReport) {
    if wire.hasCompleted {
      let total = Int(max(0, wire.total))
      progress = OperationProgress(
        completed: Int(max(0, wire.completed)), total: total == 0 ? nil : total,
        base: Int(max(0, wire.base)), since: MonitorTime(wire: wire.since))
    }
    statusText = wire.status.isEmpty ? nil : wire.status.wireErrorText
    memberQueue = wire.hasMemberQueue ? QueueReport.ID(wire.memberQueue) : nil
    delayEnd = wire.hasDelayEnd ? MonitorTime(wire: wire.delayEnd) : nil
  }
}

// MARK: - Kinds

extension WireOperationKind {
  /// Returns the messages about the kinds of operations, sorted by kind, so that equal updates have equal
  /// bytes. Operations whose kind is the name of their class are left out.
  static func messages(about reports: [OperationReport]) -> [WireOperationKind] {
    var operations: [String: [UInt64]] = [:]
    for report in reports {
      if let kind = report.givenKind { operations[kind, default: []].append(report.id.rawValue) }
    }
    return operations.sorted { $0.key < $1.key }.map { kind, ids in
      var wire = WireOperationKind()
      wire.kind = kind.wireText
      wire.operations = ids
      return wire
    }
  }
}

extension WirePriority {
  init(_ priority: OperationPriority) {
    self =
      switch priority {
      case .veryLow: .veryLow
      case .low: .low
      case .normal: .normal
      case .high: .high
      case .veryHigh: .veryHigh
      }
  }
}

extension OperationPriority {
  init(_ wire: WirePriority) {
    self =
      switch wire {
      case .veryLow: .veryLow
      case .low: .low
      case .normal, .UNRECOGNIZED: .normal
      case .high: .high
      case .veryHigh: .veryHigh
      }
  }
}
