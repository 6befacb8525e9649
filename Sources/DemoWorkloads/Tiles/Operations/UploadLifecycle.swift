// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The states of an upload, as a value: each event leads to a state and an action of the operation.
///
/// Each change that observers see happens between two events. So the operation can send "will change" before
/// it and "did change" after it without holding a lock.
struct UploadLifecycle: Equatable, Sendable {
  enum Phase: Equatable, Sendable {
    case pending
    /// `start()` was called; "will change" is being sent for `isExecuting`.
    case claimed
    /// `isExecuting` has changed; "did change" is being sent.
    case entered
    /// The transfer is running.
    case transferring
    /// No work is left; "will change" is being sent for `isFinished`.
    case leaving(hasExecuted: Bool)
    case finished
  }

  /// The operation's action after an event, once it has released the lock.
  enum Action: Equatable, Sendable {
    case nothing
    /// Notify observers of `isExecuting`, and report `enter()` and `entered()` during that.
    case enter
    /// Begin the transfer, and report `transferEnded()` when it has ended.
    case transfer
    /// Notify observers of `isFinished`, and of `isExecuting` if it has executed, and report `leave()`.
    case leave(hasExecuted: Bool)
  }

  private(set) var phase: Phase = .pending
  /// Whether the transfer ended before a cancellation.
  private(set) var isUploaded = false
  private var isCancelled = false

  var isExecuting: Bool {
    switch phase {
    case .entered, .transferring: true
    case .leaving(let hasExecuted): hasExecuted
    case .pending, .claimed, .finished: false
    }
  }

  var isFinished: Bool { phase == .finished }

  /// Starts the operation, when the queue calls it. Only the first call has an effect.
  mutating func start() -> Action {
    guard phase == .pending else { return .nothing }
    guard !isCancelled else { return beginLeaving(hasExecuted: false) }
    phase = .claimed
    return .enter
  }

  /// Notes that "will change" has been sent for `isExecuting`.
  mutating func enter() {
    precondition(phase == .claimed, "entered while \(phase)")
    phase = .entered
  }

  /// Notes that "did change" has been sent for `isExecuting`.
  mutating func entered() -> Action {
    precondition(phase == .entered, "the transfer began while \(phase)")
    // A cancellation that came while observers were notified takes effect here.
    guard !isCancelled else { return beginLeaving(hasExecuted: true) }
    phase = .transferring
    return .transfer
  }

  /// Cancels the operation. It may be called at any time, and any number of times.
  mutating func cancel() -> Action {
    isCancelled = true
    // Before the start, the queue's own call of start() ends the operation. An operation that finished
    // without having been started would confuse the queue.
    return phase == .transferring ? beginLeaving(hasExecuted: true) : .nothing
  }

  /// Notes that the transfer has ended. It has no effect if a cancellation came first.
  mutating func transferEnded() -> Action {
    guard phase == .transferring else { return .nothing }
    isUploaded = true
    return beginLeaving(hasExecuted: true)
  }

  /// Notes that "will change" has been sent for `isFinished`.
  mutating func leave() {
    guard case .leaving = phase else { preconditionFailure("left while \(phase)") }
    phase = .finished
  }

  private mutating func beginLeaving(hasExecuted: Bool) -> Action {
    phase = .leaving(hasExecuted: hasExecuted)
    return .leave(hasExecuted: hasExecuted)
  }
}
